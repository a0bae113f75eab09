"""The registry of one process and its exposition, plus what every metric file shares: the prefix and the older names."""

import platform
from collections.abc import Iterable, Mapping
from typing import cast

from prometheus_client import CollectorRegistry, Gauge, PlatformCollector, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from router.version import VERSION

PREFIX = "llm_d_epp"
POOL_ALIAS = "inference_pool"
EXTENSION_ALIAS = "inference_extension"
SCHEDULER_ALIAS = "llm_d_inference_scheduler"


class Alias(Collector):
    """Exposes a metric a second time under a deprecated name and its label names.

    `labels` renames labels; a label mapped to "" is left out. The samples must stay distinct without it, so a metric whose series
    would have to be summed is counted twice instead.
    """

    def __init__(self, source: Collector, names: tuple[str, str], labels: Mapping[str, str] | None = None) -> None:
        self._source = source
        self._new, self._old = names
        self._labels = labels or {}

    def collect(self) -> Iterable[Metric]:
        """The source's series, renamed."""
        for metric in self._source.collect():
            renamed = Metric(self._name(metric.name), f"Deprecated: use {metric.name}.", metric.type)
            renamed.samples = [self._rename(sample) for sample in metric.samples if not sample.name.endswith("_created")]
            yield renamed

    def _rename(self, sample: Sample) -> Sample:
        renamed = {self._labels.get(name, name): value for name, value in sample.labels.items()}
        renamed.pop("", None)
        return Sample(self._name(sample.name), renamed, sample.value, sample.timestamp, sample.exemplar)

    def _name(self, name: str) -> str:
        return name.replace(self._new, self._old, 1)


def new_registry(commit: str = "", build_ref: str = VERSION) -> CollectorRegistry:
    """A registry that holds what every process says of itself."""
    registry = CollectorRegistry(auto_describe=True)
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry, platform=platform)
    info = Gauge("info", "The build that runs; always 1.", ("commit", "build_ref"), namespace=PREFIX, registry=registry)
    info.labels(commit, build_ref).set(1)
    registry.register(Alias(info, (PREFIX, EXTENSION_ALIAS)))
    return registry


def exposition(registry: CollectorRegistry, accept: str) -> tuple[bytes, str]:
    """The page and its content type, as text or OpenMetrics by the `Accept` header."""
    encode, content_type = choose_encoder(accept)
    return encode(cast("CollectorRegistry", _WithoutTimes(registry))), content_type


class _WithoutTimes:
    """A registry as encoders see it, without the `_created` series that no dashboard asks for."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterable[Metric]:
        """All metrics."""
        for metric in self._registry.collect():
            metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            yield metric
