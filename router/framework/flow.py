"""Saturation: how full the pool is, as admission sees it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from router.framework.endpoint import Endpoint
from router.framework.plugin import Plugin


class SaturationDetector(Plugin, ABC):
    """Measures load against what the endpoints can take."""

    @abstractmethod
    def saturation(self, endpoints: Sequence[Endpoint]) -> float:
        """0 idle, 1.0 and above saturated; no endpoints: 1.0."""
