"""Metrics of the pool: averages over endpoints, and each endpoint's queue."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from router.metrics.registry import POOL_ALIAS, PREFIX, Alias

QueueSizes = Callable[[], Iterable[tuple[str, int]]]  # (endpoint name, waiting requests)


MEASURED = {
    "kv_cache_utilization": "share of the cache in use",
    "queue_size": "number of waiting requests",
    "running_requests": "number of running requests",
}


class PoolMetrics:
    """Gauges of one pool, named `pool` in their label `name`."""

    def __init__(self, registry: CollectorRegistry, pool: str) -> None:
        self._registry = registry
        self._pool = pool
        self._average = {what: self._gauge(f"average_{what}", f"Mean {text} over endpoints.") for what, text in MEASURED.items()}
        self._deviation = {
            what: self._gauge(f"std_dev_{what}", f"Sample standard deviation of the {text} over endpoints.")
            for what, text in MEASURED.items()
        }
        self._ready = self._gauge("ready_endpoints", "Endpoints whose metrics are recent.")
        for metric in self._average.values():
            registry.register(Alias(metric, (PREFIX, POOL_ALIAS)))
        registry.register(Alias(self._ready, (f"{PREFIX}_ready_endpoints", f"{POOL_ALIAS}_ready_pods")))

    def watch_queues(self, read: QueueSizes) -> None:
        """Expose the queue of every endpoint as it is when the page is asked for."""
        for name, label in (
            (f"{PREFIX}_per_endpoint_queue_size", "model_server_endpoint"),
            (f"{POOL_ALIAS}_per_pod_queue_size", "model_server_pod"),
        ):
            self._registry.register(_Queues(name, label, self._pool, read))

    def ready(self, count: int) -> None:
        """How many endpoints have recent metrics."""
        self._ready.labels(self._pool).set(count)

    def measured(self, values: Mapping[str, Sequence[float]]) -> None:
        """Averages from each fresh endpoint's values; `values` has the keys of `MEASURED` and at least one value each."""
        for what, of_endpoints in values.items():
            self._average[what].labels(self._pool).set(round(statistics.fmean(of_endpoints), 2))
            spread = statistics.stdev(of_endpoints) if len(of_endpoints) > 1 else 0.0
            self._deviation[what].labels(self._pool).set(round(spread, 2))

    def _gauge(self, name: str, text: str) -> Gauge:
        return Gauge(name, text, ("name",), namespace=PREFIX, registry=self._registry)


class _Queues(Collector):
    """Asks at exposition, so that the page shows the last scrape and no endpoint that is gone."""

    def __init__(self, name: str, label: str, pool: str, read: QueueSizes) -> None:
        self._name, self._label, self._pool, self._read = name, label, pool, read

    def describe(self) -> Iterable[Metric]:
        """The metric without series."""
        return (self._family(),)

    def collect(self) -> Iterable[Metric]:
        """One series an endpoint."""
        family = self._family()
        for endpoint, size in dict(self._read()).items():
            family.add_metric((self._pool, endpoint), size)
        return (family,)

    def _family(self) -> GaugeMetricFamily:
        return GaugeMetricFamily(self._name, "Requests waiting at an endpoint.", labels=("name", self._label))
