"""Keeps endpoints whose pod labels match a selector."""

from collections.abc import Sequence

from router.framework.endpoint import Endpoint
from router.framework.labels import LabelSelector
from router.framework.plugin import Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Filter

TYPE = "label-selector-filter"
Parameters = LabelSelector


class LabelSelectorFilter(Filter):
    """Its parameters are the selector."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._selector = parameters

    def filter(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """By labels."""
        return [endpoint for endpoint in endpoints if self._selector.matches(endpoint.metadata.labels)]
