"""Prefers endpoints with a shorter queue, on an absolute scale."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from router.framework.endpoint import Endpoint
from router.framework.errors import ConfigError
from router.framework.plugin import Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Scorer

TYPE = "load-aware-scorer"
_IDLE_SCORE = 0.5  # leaves the upper half to scorers that know of something better than an empty queue


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    threshold: int = 128  # waiting requests at which the score is 0

    def __post_init__(self) -> None:
        if self.threshold <= 0:
            raise ConfigError(f"{self.threshold} is not above 0", field="threshold")


class LoadAwareScorer(Scorer):
    """0.5 for an empty queue, falling to 0 at `threshold` waiting requests."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._threshold = parameters.threshold

    def score(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Mapping[Endpoint, float]:
        """Half the free share of the threshold."""
        return {
            endpoint: _IDLE_SCORE * (1 - min(endpoint.metrics.waiting_requests, self._threshold) / self._threshold)
            for endpoint in endpoints
        }
