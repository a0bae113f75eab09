"""Measures saturation by what the engine itself has in flight, so it needs no metrics from model servers.

As a filter in a profile it keeps endpoints below the limits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from router.framework.attributes.load import PRODUCER, InflightLoad, inflight_load
from router.framework.endpoint import Endpoint
from router.framework.errors import ConfigError
from router.framework.flow import SaturationDetector
from router.framework.plugin import Consumes, Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Filter

TYPE = "concurrency-detector"
_IDLE = InflightLoad()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    max_concurrency: int = 100  # requests of a full endpoint
    max_token_concurrency: int = 1_000_000
    concurrency_mode: Literal["requests", "tokens", "hybrid"] = "requests"
    headroom: float = 0.0  # how far a filtered endpoint may be above the limits, as a share
    in_flight_load_producer_name: str = PRODUCER

    def __post_init__(self) -> None:
        if self.max_concurrency <= 0:
            raise ConfigError(f"{self.max_concurrency} is not above 0", field="maxConcurrency")
        if self.max_token_concurrency <= 0:
            raise ConfigError(f"{self.max_token_concurrency} is not above 0", field="maxTokenConcurrency")
        if self.headroom < 0:
            raise ConfigError(f"{self.headroom} is negative", field="headroom")


class ConcurrencyDetector(SaturationDetector, Filter):
    """Requests or tokens in flight against their limits, or the fuller of both for each endpoint."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._mode = parameters.concurrency_mode
        self._requests, self._tokens = parameters.max_concurrency, parameters.max_token_concurrency
        scale = 1 + parameters.headroom
        self._most_requests, self._most_tokens = math.floor(self._requests * scale), math.floor(self._tokens * scale)
        self._load = inflight_load(parameters.in_flight_load_producer_name)

    def consumes(self) -> Consumes:
        """The load."""
        return Consumes(required=frozenset({self._load}))

    def saturation(self, endpoints: Sequence[Endpoint]) -> float:
        """The mean share of the limits in use."""
        if not endpoints:
            return 1.0
        return sum(self._share(endpoint.read(self._load) or _IDLE) for endpoint in endpoints) / len(endpoints)

    def filter(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """Endpoints with room; none when all are full."""
        return [endpoint for endpoint in endpoints if self._has_room(endpoint.read(self._load) or _IDLE)]

    def _share(self, load: InflightLoad) -> float:
        requests, tokens = load.requests / self._requests, load.tokens / self._tokens
        return {"requests": requests, "tokens": tokens, "hybrid": max(requests, tokens)}[self._mode]

    def _has_room(self, load: InflightLoad) -> bool:
        requests = self._mode == "tokens" or load.requests < self._most_requests
        return requests and (self._mode == "requests" or load.tokens < self._most_tokens)
