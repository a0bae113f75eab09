"""Admission: how full the pool is, and the policies of flow control.

The three policies are accepted in configuration documents; queueing itself is not built yet, so nothing calls them.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from router.framework.endpoint import Endpoint
from router.framework.plugin import Plugin


class SaturationDetector(Plugin, ABC):
    """Measures load against what the endpoints can take."""

    @abstractmethod
    def saturation(self, endpoints: Sequence[Endpoint]) -> float:
        """0 idle, 1.0 and above saturated; no endpoints: 1.0."""


class FairnessPolicy(Plugin, ABC):
    """Chooses which flow of a priority band is served next."""


class OrderingPolicy(Plugin, ABC):
    """Orders the requests of a flow."""


class UsageLimitPolicy(Plugin, ABC):
    """Sets the saturation at which a priority band stops being served."""
