"""Deprecated names of metrics: a second reading of the new ones, so nothing is counted twice."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

_BUCKET = "le"


class SummedAlias(Collector):
    """Exposes a metric under an older name with fewer labels, summed over those that fell away."""

    def __init__(self, source: Collector, name: str, labels: Sequence[str]) -> None:
        """`name`: the older name without `_total`; `labels`: the labels that it keeps."""
        self._source = source
        self._name = name
        self._labels = (*labels, _BUCKET)

    def collect(self) -> Iterable[Metric]:
        """The source's series under the older name."""
        for metric in self._source.collect():
            alias = Metric(self._name, f"Deprecated: use {metric.name}.", metric.type)
            sums: dict[tuple[str, tuple[tuple[str, str], ...]], float] = defaultdict(float)
            for sample in metric.samples:
                if not sample.name.endswith("_created"):
                    sums[sample.name.removeprefix(metric.name), self._kept(sample)] += sample.value
            alias.samples = [Sample(self._name + suffix, dict(labels), value) for (suffix, labels), value in sums.items()]
            yield alias

    def _kept(self, sample: Sample) -> tuple[tuple[str, str], ...]:
        return tuple((name, sample.labels[name]) for name in self._labels if name in sample.labels)
