"""Prefers endpoints with fewer tokens in flight.

Counts what an endpoint is already working on plus what the request at hand would add to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from router.framework.attributes.load import PRODUCER, inflight_load, uncached_tokens
from router.framework.endpoint import Endpoint
from router.framework.plugin import Consumes, Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Scorer

TYPE = "token-load-scorer"
DEFAULT_THRESHOLD_TOKENS = 4_194_304  # 128 requests of 32k tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    queue_threshold_tokens: int = DEFAULT_THRESHOLD_TOKENS  # zero or less: the default
    in_flight_load_producer_name: str = PRODUCER


class TokenLoadScorer(Scorer):
    """1 for an idle endpoint, falling to 0 at `queueThresholdTokens`."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        threshold = parameters.queue_threshold_tokens
        self._threshold = threshold if threshold > 0 else DEFAULT_THRESHOLD_TOKENS
        self._load = inflight_load(parameters.in_flight_load_producer_name)
        self._uncached = uncached_tokens(parameters.in_flight_load_producer_name)

    def consumes(self) -> Consumes:
        """Load and cost."""
        return Consumes(required=frozenset({self._load, self._uncached}))

    def score(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Mapping[Endpoint, float]:
        """The free share of the threshold."""
        return {endpoint: 1 - min(self._tokens(endpoint), self._threshold) / self._threshold for endpoint in endpoints}

    def _tokens(self, endpoint: Endpoint) -> int:
        load, uncached = endpoint.read(self._load), endpoint.read(self._uncached)
        return max((load.tokens if load else 0) + (uncached.tokens if uncached else 0), 0)
