"""Measures saturation by the queues and the KV cache use that model servers report.

As a filter in a profile it keeps endpoints below both thresholds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from router.framework.endpoint import Endpoint
from router.framework.errors import ConfigError
from router.framework.flow import SaturationDetector
from router.framework.parameters import Duration
from router.framework.plugin import Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Filter

TYPE = "utilization-detector"
_UNKNOWN = 1.0  # an endpoint that does not report counts as full


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    queue_depth_threshold: int = 5  # waiting requests of a full endpoint
    kv_cache_util_threshold: float = 0.8
    metrics_staleness_threshold: Duration = 0.2
    headroom: float = 0.0  # how far a filtered endpoint may be above the thresholds, as a share

    def __post_init__(self) -> None:
        if self.queue_depth_threshold <= 0:
            raise ConfigError(f"{self.queue_depth_threshold} is not above 0", field="queueDepthThreshold")
        if not 0 < self.kv_cache_util_threshold <= 1:
            raise ConfigError(f"{self.kv_cache_util_threshold} is not above 0 and at most 1", field="kvCacheUtilThreshold")
        if self.metrics_staleness_threshold <= 0:
            raise ConfigError(f"{self.metrics_staleness_threshold} s is not above 0", field="metricsStalenessThreshold")
        if self.headroom < 0:
            raise ConfigError(f"{self.headroom} is negative", field="headroom")


class UtilizationDetector(SaturationDetector, Filter):
    """The mean over endpoints of the fuller of queue and KV cache, against their thresholds."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._parameters = parameters
        self._clock = handle.clock
        self._metrics = handle.metrics

    def saturation(self, endpoints: Sequence[Endpoint]) -> float:
        """Mean load; endpoints with old metrics count as full."""
        if not endpoints:
            return 1.0
        fresh = [endpoint for endpoint in endpoints if self._fresh(endpoint)]
        stale = len(endpoints) - len(fresh)
        self._metrics.stale_endpoints(self.name, stale)
        return (sum(self._load(endpoint) for endpoint in fresh) + stale * _UNKNOWN) / len(endpoints)

    def filter(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """Endpoints with room; all of them when none has."""
        return [endpoint for endpoint in endpoints if self._fresh(endpoint) and self._has_room(endpoint)] or endpoints

    def _load(self, endpoint: Endpoint) -> float:
        queue = endpoint.metrics.waiting_requests / self._parameters.queue_depth_threshold
        return max(queue, endpoint.metrics.kv_cache_usage / self._parameters.kv_cache_util_threshold)

    def _has_room(self, endpoint: Endpoint) -> bool:
        scale = 1 + self._parameters.headroom
        return (
            endpoint.metrics.waiting_requests < self._parameters.queue_depth_threshold * scale
            and endpoint.metrics.kv_cache_usage < self._parameters.kv_cache_util_threshold * scale
        )

    def _fresh(self, endpoint: Endpoint) -> bool:
        updated = endpoint.metrics.updated_at
        return updated is not None and self._clock() - updated <= self._parameters.metrics_staleness_threshold
