"""Prefers endpoints with fewer running requests."""

from collections.abc import Mapping, Sequence

from router.framework.endpoint import Endpoint
from router.framework.plugin import Handle, NoParameters
from router.framework.request import InferenceRequest
from router.framework.scheduling import Scorer

TYPE = "running-requests-size-scorer"
Parameters = NoParameters


class RunningRequestsSizeScorer(Scorer):
    """1 for the fewest running requests among the candidates, 0 for the most; all equal: 1."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)

    def score(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Mapping[Endpoint, float]:
        """The place of each count between the most and the fewest."""
        running = [endpoint.metrics.running_requests for endpoint in endpoints]
        most, least = max(running, default=0), min(running, default=0)
        if most == least:
            return dict.fromkeys(endpoints, 1.0)
        return {endpoint: (most - count) / (most - least) for endpoint, count in zip(endpoints, running, strict=True)}
