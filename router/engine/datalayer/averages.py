"""The pool's own gauges: averages over endpoints whose metrics are recent."""

import asyncio
from collections.abc import Awaitable, Callable

from router.engine.datalayer.endpoints import Endpoints
from router.framework.plugin import Clock
from router.metrics.pool import PoolMetrics


class PoolAverages:
    """Computes the gauges every so often."""

    def __init__(self, endpoints: Endpoints, metrics: PoolMetrics, clock: Clock, staleness_seconds: float) -> None:
        self._endpoints = endpoints
        self._metrics = metrics
        self._clock = clock
        self._staleness_seconds = staleness_seconds
        metrics.watch_queues(self._queues)

    async def run(self, interval_seconds: float, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Refresh until cancelled."""
        while True:
            self.refresh()
            await sleep(interval_seconds)

    def refresh(self) -> None:
        """Set the gauges; without a fresh endpoint the averages stay as they are."""
        oldest = self._clock() - self._staleness_seconds
        fresh = [e.metrics for e in self._endpoints.all() if e.metrics.updated_at is not None and e.metrics.updated_at >= oldest]
        self._metrics.ready(len(fresh))
        if fresh:
            self._metrics.measured(
                {
                    "kv_cache_utilization": [metrics.kv_cache_usage for metrics in fresh],
                    "queue_size": [float(metrics.waiting_requests) for metrics in fresh],
                    "running_requests": [float(metrics.running_requests) for metrics in fresh],
                }
            )

    def _queues(self) -> list[tuple[str, int]]:
        return [(endpoint.metadata.id.rpartition("/")[2], endpoint.metrics.waiting_requests) for endpoint in self._endpoints.all()]
