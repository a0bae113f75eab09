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
        self._models = models or LabelCap()

        def counter(name: str, text: str, labels: tuple[str, ...]) -> Counter:
            return Counter(name, text, labels, namespace=PREFIX, registry=registry)

        self._disagg = counter("disagg_decision_total", "Requests by the stages that serve them.", _DECISION)
        self._pd = counter("pd_decision_total", "Requests by the stages that serve them, of the older handler.", _DECISION)
        for source, name in ((self._disagg, "disagg_decision"), (self._pd, "pd_decision")):
            registry.register(SummedAlias(source, f"{_SCHEDULER_ALIAS}_{name}", ("model_name", "decision_type")))
        self._queries = counter("encoder_cache_queries_total", "Distinct media items looked for.", (*_ENCODER, "modality"))
        self._hits = counter("encoder_cache_hits_total", "Media items that a pod is thought to hold.", (*_ENCODER, "pod", "modality"))
        self._ratio = Histogram(
            "encoder_cache_hit_ratio",
            "Share of a request's media items that a candidate is thought to hold.",
            _ENCODER,
            namespace=PREFIX,
            buckets=_RATIO_BUCKETS,
            registry=registry,
        )
        self._known: dict[tuple[str, ...], Record] = {}

    def disagg_decision(self, plugin_name: str, plugin_type: str, model: str, decision: str) -> None:
        """A request is served by the stages of `decision`."""
        self._count(self._disagg, plugin_name, plugin_type, self._models(model or _UNKNOWN), decision)

    def pd_decision(self, plugin_name: str, plugin_type: str, model: str, decision: str) -> None:
        """The same, as the older handler counts it."""
        self._count(self._pd, plugin_name, plugin_type, self._models(model or _UNKNOWN), decision)

    def encoder_cache_queried(self, plugin_name: str, plugin_type: str, modality: str) -> None:
        """One distinct media item was looked for."""
        self._count(self._queries, plugin_type, plugin_name, modality)

    def encoder_cache_hit(self, plugin_name: str, plugin_type: str, pod: str, modality: str) -> None:
        """`pod` is thought to hold the item."""
        self._hits.labels(plugin_type, plugin_name, pod, modality).inc()

    def encoder_cache_ratio(self, plugin_name: str, plugin_type: str, ratio: float) -> None:
        """Share that one candidate is thought to hold."""
        key = ("ratio", plugin_type, plugin_name)
        record = self._known.get(key)
        if record is None:
            record = self._known[key] = self._ratio.labels(plugin_type, plugin_name).observe
        record(ratio)

    def encoder_cache_forgotten(self, plugin_name: str, plugin_type: str, pod: str) -> None:
        """Drop the series of a pod."""
        self._hits.remove_by_labels({"plugin_type": plugin_type, "plugin_name": plugin_name, "pod": pod})

    def _count(self, counter: Counter, *labels: str) -> None:
        key = (str(id(counter)), *labels)
        record = self._known.get(key)
        if record is None:
            record = self._known[key] = counter.labels(*labels).inc
        record(1)
