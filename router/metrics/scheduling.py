"""Metrics of scheduling and of plugin calls (prefix `llm_d_epp_`), each also under its deprecated name.

A deprecated metric is a second reading of the new one: nothing is counted twice.
"""

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from router.metrics.labels import LabelCap

_BUCKETS = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
_NEW, _OLD = "llm_d_epp", "inference_extension"

Observe = Callable[[float], None]


class _Alias(Collector):
    """Exposes a metric a second time under an older name and, where they differ, older label names."""

    def __init__(self, source: Collector, labels: dict[str, str]) -> None:
        self._source = source
        self._labels = labels

    def collect(self) -> Iterable[Metric]:
        """The source's series, renamed."""
        for metric in self._source.collect():
            renamed = Metric(_old(metric.name), f"Deprecated: use {metric.name}.", metric.type)
            renamed.samples = [self._rename(sample) for sample in metric.samples if not sample.name.endswith("_created")]
            yield renamed

    def _rename(self, sample: Sample) -> Sample:
        labels = {self._labels.get(name, name): value for name, value in sample.labels.items()}
        return Sample(_old(sample.name), labels, sample.value, sample.timestamp, sample.exemplar)


def _old(name: str) -> str:
    return name.replace(_NEW, _OLD, 1)


class SchedulingMetrics:
    """Records scheduling attempts and the time spent in plugins."""

    def __init__(self, registry: CollectorRegistry, models: LabelCap | None = None) -> None:
        """`models`: the cap on model names as labels; one that others share counts their names too."""
        self._models = models or LabelCap()
        self._duration = Histogram(
            "scheduler_e2e_duration_seconds", "Time of one scheduling decision.", namespace=_NEW, buckets=_BUCKETS, registry=registry
        )
        self._attempts = Counter(
            "scheduler_attempts_total",
            "Scheduling decisions, by outcome and chosen endpoint.",
            ("status", "target_model_name", "endpoint_name", "namespace", "port"),
            namespace=_NEW,
            registry=registry,
        )
        self._plugin_duration = Histogram(
            "plugin_duration_seconds",
            "Time of one call of a plugin.",
            ("extension_point", "plugin_type", "plugin_name"),
            namespace=_NEW,
            buckets=_BUCKETS,
            registry=registry,
        )
        for metric in (self._duration, self._plugin_duration):
            registry.register(_Alias(metric, {}))
        registry.register(_Alias(self._attempts, {"endpoint_name": "pod_name"}))
        self._plugin_children: dict[tuple[str, str, str], Observe] = {}
        self._attempt_children: dict[tuple[str, ...], Callable[[], None]] = {}

    def decided(self, seconds: float) -> None:
        """One scheduling decision took so long."""
        self._duration.observe(seconds)

    def succeeded(self, target_model: str, endpoint_name: str, namespace: str, port: int) -> None:
        """A decision for the pod `endpoint_name`."""
        self._attempt("success", self._models(target_model), endpoint_name, namespace, str(port))

    def failed(self, target_model: str) -> None:
        """No endpoint could be chosen."""
        self._attempt("failure", self._models(target_model), "", "", "")

    def plugin_duration(self, extension_point: str, plugin_type: str, plugin_name: str) -> Observe:
        """The recorder for one plugin at one extension point; resolve it once and keep it."""
        key = (extension_point, plugin_type, plugin_name)
        observe = self._plugin_children.get(key)
        if observe is None:
            observe = self._plugin_children[key] = self._plugin_duration.labels(*key).observe
        return observe

    def _attempt(self, *labels: str) -> None:
        increment = self._attempt_children.get(labels)
        if increment is None:
            increment = self._attempt_children[labels] = self._attempts.labels(*labels).inc
        increment()
