"""Prefers endpoints with fewer requests in flight, as the engine itself counts them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from router.framework.attributes.load import PRODUCER, inflight_load
from router.framework.endpoint import Endpoint
from router.framework.plugin import Consumes, Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Scorer

TYPE = "active-request-scorer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    idle_threshold: int = 0  # up to so many requests count as none
    max_busy_score: float = 1.0  # score that a busy endpoint can come close to
    in_flight_load_producer_name: str = PRODUCER
    request_timeout: Any = None  # deprecated, without effect


class ActiveRequestScorer(Scorer):
    """1 for an idle endpoint; a busy one gets its distance from the busiest, times `maxBusyScore`."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._idle = parameters.idle_threshold
        self._busy_score = parameters.max_busy_score
        self._load = inflight_load(parameters.in_flight_load_producer_name)

    def consumes(self) -> Consumes:
        """The load."""
        return Consumes(required=frozenset({self._load}))

    def score(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Mapping[Endpoint, float]:
        """Relative idleness."""
        counts = [self._requests(endpoint) for endpoint in endpoints]
        most = max(counts, default=0)
        return {
            endpoint: 1.0 if count <= self._idle or most <= 0 else (most - count) / most * self._busy_score
            for endpoint, count in zip(endpoints, counts, strict=True)
        }

    def _requests(self, endpoint: Endpoint) -> int:
        load = endpoint.read(self._load)
        return load.requests if load else 0
