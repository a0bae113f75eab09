"""Keeps endpoints whose load stays within limits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from router.framework.attributes.load import PRODUCER, inflight_load
from router.framework.endpoint import Endpoint
from router.framework.errors import ConfigError
from router.framework.plugin import Consumes, Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Filter

TYPE = "utilization-filter"
ACTIVE_REQUESTS = "active-requests"  # as the engine itself counts them; the other figures are reported by the endpoint
_REPORTED: Mapping[str, Callable[[Endpoint], float]] = {
    "running-requests": lambda endpoint: endpoint.metrics.running_requests,
    "waiting-queue": lambda endpoint: endpoint.metrics.waiting_requests,
    "kv-cache-utilization": lambda endpoint: endpoint.metrics.kv_cache_usage,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A limit on one figure."""

    metric: Literal["active-requests", "running-requests", "waiting-queue", "kv-cache-utilization"]
    max_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    conditions: tuple[Condition, ...]
    fallback_on_empty: bool = False  # keep all when none passes
    in_flight_load_producer_name: str = PRODUCER

    def __post_init__(self) -> None:
        if not self.conditions:
            raise ConfigError("must not be empty", field="conditions")


class UtilizationFilter(Filter):
    """All conditions must hold."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._conditions = parameters.conditions
        self._fallback = parameters.fallback_on_empty
        self._load = inflight_load(parameters.in_flight_load_producer_name)

    def consumes(self) -> Consumes:
        """The load, if a condition is on it."""
        counted = any(condition.metric == ACTIVE_REQUESTS for condition in self._conditions)
        return Consumes(required=frozenset({self._load} if counted else ()))

    def filter(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """What stays within the limits; with the fallback, all when nothing does."""
        kept = [e for e in endpoints if all(self._value(e, condition.metric) <= condition.max_value for condition in self._conditions)]
        return endpoints if not kept and self._fallback else kept

    def _value(self, endpoint: Endpoint, metric: str) -> float:
        if metric != ACTIVE_REQUESTS:
            return _REPORTED[metric](endpoint)
        load = endpoint.read(self._load)
        return load.requests if load else 0
