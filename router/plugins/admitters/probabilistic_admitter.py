"""Refuses more and more requests of negative priority as the pool fills up."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from router.framework.control import Admitter
from router.framework.endpoint import Endpoint
from router.framework.errors import ConfigError, DroppedReason, ErrorCode, RequestError
from router.framework.plugin import Handle
from router.framework.request import InferenceRequest

TYPE = "probabilistic-admitter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    queue_depth_threshold: int = 5  # waiting requests of a full endpoint
    kv_cache_util_threshold: float = 0.8
    power: float = 5.0
    k: float = 300.0

    def __post_init__(self) -> None:
        if self.queue_depth_threshold <= 0:
            raise ConfigError(f"{self.queue_depth_threshold} is not above 0", field="queueDepthThreshold")
        if not 0 < self.kv_cache_util_threshold <= 1:
            raise ConfigError(f"{self.kv_cache_util_threshold} is not above 0 and at most 1", field="kvCacheUtilThreshold")
        if self.power <= 0:
            raise ConfigError(f"{self.power} is not above 0", field="power")
        if self.k < 0:
            raise ConfigError(f"{self.k} is negative", field="k")


class ProbabilisticAdmitter(Admitter):
    """Refuses with probability saturation to the `power`, times `k`."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._parameters = parameters
        self._random = handle.random

    async def admit(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> None:
        """Requests of priority 0 and above always pass."""
        if request.priority >= 0 or self._random.random() >= self.refusal(endpoints):
            return
        raise RequestError(ErrorCode.ResourceExhausted, "the pool is too full for requests of this priority", DroppedReason.SATURATED)

    def refusal(self, endpoints: Sequence[Endpoint]) -> float:
        """The probability that a request is refused."""
        given = self._parameters
        if not endpoints:
            return 0.0
        loads = (
            max(e.metrics.waiting_requests / given.queue_depth_threshold, e.metrics.kv_cache_usage / given.kv_cache_util_threshold)
            for e in endpoints
        )
        saturation = sum(loads) / len(endpoints)
        if saturation <= 0 or given.k <= 0:
            return 0.0
        return math.exp(min(given.power * math.log(saturation) + math.log(given.k), 0.0))  # the power itself may be beyond floats
