"""Metrics of serving in stages: which stages requests get, and what encoders are thought to remember."""

from collections.abc import Callable
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Histogram

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

    def encoder_cache_ratio(self, plugin_name: str, plugin_type: str, ratio: float) -> None:
        """Share of a request's items that one candidate is thought to have encoded."""
        ...

    def encoder_cache_forgotten(self, plugin_name: str, plugin_type: str, pod: str) -> None:
        """The pod is gone, and its series with it."""
        ...


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
        self._encoder_ratio = Histogram(
            "encoder_cache_hit_ratio",
            "Share of a request's media items that a candidate is thought to hold.",
            _ENCODER,
            namespace=PREFIX,
            buckets=_RATIO_BUCKETS,
            registry=registry,
        )
        self._stage_records: dict[tuple[str, ...], Record] = {}

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
        self._encoder_hits.labels(plugin_type, plugin_name, pod, modality).inc()

    def encoder_cache_ratio(self, plugin_name: str, plugin_type: str, ratio: float) -> None:
        """Share that one candidate is thought to hold."""
        key = ("ratio", plugin_type, plugin_name)
        record = self._stage_records.get(key)
        if record is None:
            record = self._stage_records[key] = self._encoder_ratio.labels(plugin_type, plugin_name).observe
        record(ratio)

    def encoder_cache_forgotten(self, plugin_name: str, plugin_type: str, pod: str) -> None:
        """Drop the series of a pod."""
        self._encoder_hits.remove_by_labels({"plugin_type": plugin_type, "plugin_name": plugin_name, "pod": pod})

    def _count(self, counter: Counter, *labels: str) -> None:
        key = (str(id(counter)), *labels)
        record = self._stage_records.get(key)
        if record is None:
            record = self._stage_records[key] = counter.labels(*labels).inc
        record(1)
