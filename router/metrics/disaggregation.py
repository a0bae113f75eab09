"""Metrics of serving in stages: which stages requests get, and what encoders are thought to remember."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.metrics_core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from router.metrics.aliases import SummedAlias
from router.metrics.labels import LabelCap
from router.metrics.registry import PREFIX

_SCHEDULER_ALIAS = "llm_d_inference_scheduler"
_DECISION = ("plugin_name", "plugin_type", "model_name", "decision_type")
_ENCODER = ("plugin_type", "plugin_name")
_RATIO_BUCKETS = tuple(step / 10 for step in range(11))
_UNKNOWN = "unknown"  # model name of a request that names none

Record = Callable[[float], None]


class DisaggregationMetrics(Protocol):
    """What plugins of disaggregated serving record."""

    def disagg_decision(self, plugin_name: str, plugin_type: str, model: str, decision: str) -> None:
        """A request is served by the stages of `decision`, such as `encode-decode`."""
        ...

    def pd_decision(self, plugin_name: str, plugin_type: str, model: str, decision: str) -> None:
        """The same, as the older handler of two stages counts it."""
        ...

    def encoder_cache_queried(self, plugin_name: str, plugin_type: str, modality: str) -> None:
        """One distinct media item of a request was looked for."""
        ...

    def encoder_cache_hit(self, plugin_name: str, plugin_type: str, pod: str, modality: str) -> None:
        """`pod` is thought to have encoded the item."""
        ...

    def encoder_cache_ratio(self, plugin_name: str, plugin_type: str, ratio: float, candidates: int) -> None:
        """Share of a request's items that each of so many candidates is thought to have encoded."""
        ...

    def encoder_cache_forgotten(self, plugin_name: str, plugin_type: str, pod: str) -> None:
        """The pod is gone, and its series with it."""
        ...


class RatioHistogram(Collector):
    """Numbers from 0 to 1 in steps of a tenth, many equal ones at once: every request has one for each candidate."""

    def __init__(self, name: str, text: str, labels: Sequence[str]) -> None:
        self._name, self._text, self._labels = name, text, labels
        self._counts: dict[tuple[str, ...], list[int]] = {}  # for each bucket, and beyond
        self._sums: dict[tuple[str, ...], float] = {}

    def observe(self, labels: tuple[str, ...], ratio: float, times: int) -> None:
        """The same ratio so many times."""
        counts = self._counts.get(labels)
        if counts is None:
            counts = self._counts[labels] = [0] * (len(_RATIO_BUCKETS) + 1)
            self._sums[labels] = 0.0
        counts[bisect_left(_RATIO_BUCKETS, ratio)] += times
        self._sums[labels] += ratio * times

    def collect(self) -> Iterable[Metric]:
        """All series."""
        family = HistogramMetricFamily(self._name, self._text, labels=self._labels)
        bounds = [*map(str, _RATIO_BUCKETS), "+Inf"]
        for labels, counts in self._counts.items():
            family.add_metric(labels, list(zip(bounds, accumulate(counts), strict=True)), self._sums[labels])
        yield family


class PrometheusDisaggregationMetrics:
    """`DisaggregationMetrics` on a registry; labelled series are looked up once and kept."""

    def __init__(self, registry: CollectorRegistry, models: LabelCap | None = None) -> None:
        """`models`: clients choose model names, so their number is capped."""
        self._model_names = models or LabelCap()

        def counter(name: str, text: str, labels: tuple[str, ...]) -> Counter:
            return Counter(name, text, labels, namespace=PREFIX, registry=registry)

        self._disagg_decisions = counter("disagg_decision_total", "Requests by the stages that serve them.", _DECISION)
        self._pd_decisions = counter("pd_decision_total", "Requests by the stages that serve them, of the older handler.", _DECISION)
        for source, name in ((self._disagg_decisions, "disagg_decision"), (self._pd_decisions, "pd_decision")):
            registry.register(SummedAlias(source, f"{_SCHEDULER_ALIAS}_{name}", ("model_name", "decision_type")))
        self._encoder_queries = counter("encoder_cache_queries_total", "Distinct media items looked for.", (*_ENCODER, "modality"))
        self._encoder_hits = counter(
            "encoder_cache_hits_total", "Media items that a pod is thought to hold.", (*_ENCODER, "pod", "modality")
        )
        self._encoder_ratio = RatioHistogram(
            f"{PREFIX}_encoder_cache_hit_ratio", "Share of a request's media items that a candidate is thought to hold.", _ENCODER
        )
        registry.register(self._encoder_ratio)
        self._stage_records: dict[tuple[str, ...], Record] = {}
        self._pod_records: dict[tuple[str, str, str], dict[str, Record]] = {}  # by modality

    def disagg_decision(self, plugin_name: str, plugin_type: str, model: str, decision: str) -> None:
        """A request is served by the stages of `decision`."""
        self._count(self._disagg_decisions, plugin_name, plugin_type, self._model_names(model or _UNKNOWN), decision)

    def pd_decision(self, plugin_name: str, plugin_type: str, model: str, decision: str) -> None:
        """The same, as the older handler counts it."""
        self._count(self._pd_decisions, plugin_name, plugin_type, self._model_names(model or _UNKNOWN), decision)

    def encoder_cache_queried(self, plugin_name: str, plugin_type: str, modality: str) -> None:
        """One distinct media item was looked for."""
        self._count(self._encoder_queries, plugin_type, plugin_name, modality)

    def encoder_cache_hit(self, plugin_name: str, plugin_type: str, pod: str, modality: str) -> None:
        """`pod` is thought to hold the item."""
        pods = self._pod_records.setdefault((plugin_type, plugin_name, pod), {})
        record = pods.get(modality)
        if record is None:
            record = pods[modality] = self._encoder_hits.labels(plugin_type, plugin_name, pod, modality).inc
        record(1)

    def encoder_cache_ratio(self, plugin_name: str, plugin_type: str, ratio: float, candidates: int) -> None:
        """Share that each of so many candidates is thought to hold."""
        self._encoder_ratio.observe((plugin_type, plugin_name), ratio, candidates)

    def encoder_cache_forgotten(self, plugin_name: str, plugin_type: str, pod: str) -> None:
        """Drop the series of a pod."""
        self._pod_records.pop((plugin_type, plugin_name, pod), None)
        self._encoder_hits.remove_by_labels({"plugin_type": plugin_type, "plugin_name": plugin_name, "pod": pod})

    def _count(self, counter: Counter, *labels: str) -> None:
        key = (str(id(counter)), *labels)
        record = self._stage_records.get(key)
        if record is None:
            record = self._stage_records[key] = counter.labels(*labels).inc
        record(1)
