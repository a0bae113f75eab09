"""Prefers endpoints with fewer waiting requests."""

from collections.abc import Mapping, Sequence

from router.framework.endpoint import Endpoint
from router.framework.plugin import Handle, NoParameters
from router.framework.request import InferenceRequest
from router.framework.scheduling import Scorer

TYPE = "queue-scorer"
Parameters = NoParameters


class QueueScorer(Scorer):
    """1 for the shortest queue among the candidates, 0 for the longest; all equal: 1."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)

    def score(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Mapping[Endpoint, float]:
        """The place of each queue between the longest and the shortest."""
        waiting = [endpoint.metrics.waiting_requests for endpoint in endpoints]
        most, least = max(waiting, default=0), min(waiting, default=0)
        if most == least:
            return dict.fromkeys(endpoints, 1.0)
        return {endpoint: (most - count) / (most - least) for endpoint, count in zip(endpoints, waiting, strict=True)}
