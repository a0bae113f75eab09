"""Prefers endpoints that have the wanted adapter loaded, then those with room for one more."""

from collections.abc import Mapping, Sequence

from router.framework.endpoint import Endpoint, EndpointMetrics
from router.framework.plugin import Handle, NoParameters
from router.framework.request import InferenceRequest
from router.framework.scheduling import Scorer

TYPE = "lora-affinity-scorer"
Parameters = NoParameters
LOADED, ROOM, QUEUED, NONE = 1.0, 0.8, 0.6, 0.0


class LoraAffinityScorer(Scorer):
    """Loaded 1, room 0.8, queued 0.6, else 0."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)

    def score(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Mapping[Endpoint, float]:
        """By the adapters that the endpoints report."""
        return {endpoint: _score(endpoint.metrics, request.target_model) for endpoint in endpoints}


def _score(metrics: EndpointMetrics, model: str) -> float:
    if model in metrics.running_adapters:
        return LOADED
    if len(metrics.running_adapters) + len(metrics.waiting_adapters) < metrics.max_adapters:
        return ROOM
    return QUEUED if model in metrics.waiting_adapters else NONE
