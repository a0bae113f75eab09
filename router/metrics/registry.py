"""The registry of one process and its exposition, plus what every metric file shares: the prefix and the older names."""

import platform
from collections.abc import Callable, Iterable, Mapping
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
PIECE_SAMPLES = 1000  # lines encoded without a break: about ten milliseconds


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


def exposition(registry: CollectorRegistry, accept: str) -> tuple[Iterable[bytes], str]:
    """The page and its content type, as text or OpenMetrics by the `Accept` header.

    The page comes in pieces made one at a time: a thousand model names make half a million lines, and whoever sends the pieces can do
    other work between two of them.
    """
    encode, content_type = choose_encoder(accept)
    return _pieces(registry, encode), content_type


def _pieces(registry: CollectorRegistry, encode: Callable[[CollectorRegistry], bytes]) -> Iterable[bytes]:
    ending = encode(CollectorRegistry())  # `# EOF` in OpenMetrics
    for metric in registry.collect():
        samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
        for start in range(0, max(len(samples), 1), PIECE_SAMPLES):
            metric.samples = samples[start : start + PIECE_SAMPLES]
            text = encode(cast("CollectorRegistry", _One(metric))).removesuffix(ending)
            yield text if start == 0 else _without_heading(text)
    yield ending


def _without_heading(text: bytes) -> bytes:
    """The samples alone: help and type of a family are written once."""
    while text.startswith(b"#"):
        text = text.partition(b"\n")[2]
    return text


class _One:
    """A registry of one metric, as encoders see it."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric

    def collect(self) -> Iterable[Metric]:
        """The metric."""
        return (self._metric,)
