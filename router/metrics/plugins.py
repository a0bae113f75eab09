"""Metrics that plugins record (`engine.md` names them; prefix `llm_d_epp_`)."""

from typing import Generic, Protocol, TypeVar

from prometheus_client import CollectorRegistry, Gauge, Histogram

from router.metrics.disaggregation import DisaggregationMetrics, PrometheusDisaggregationMetrics
from router.metrics.labels import LabelCap
from router.metrics.registry import EXTENSION_ALIAS, PREFIX


class PluginMetrics(DisaggregationMetrics, Protocol):
    """What a plugin may record. Names and labels are settled here so that plugins state facts only."""

    def prefix_index_size(self, plugin_name: str, plugin_type: str, entries: int) -> None:
        """Total entries of a prefix index."""
        ...

    def prefix_hit(self, plugin_name: str, plugin_type: str, *, ratio: float, hit_bytes: int) -> None:
        """Share and length of the prompt that the chosen endpoint was thought to hold."""
        ...

    def inflight(self, endpoint_name: str, namespace: str, producer_name: str, flow: tuple[str, int], change: tuple[int, int]) -> None:
        """Change (requests, tokens) of what is in flight for a flow (fairness id, priority)."""
        ...

    def inflight_gone(self, endpoint_name: str, namespace: str, producer_name: str) -> None:
        """The endpoint left the pool: nothing more is told of it."""
        ...

    def stale_endpoints(self, detector: str, count: int) -> None:
        """Endpoints whose metrics are too old to use."""
        ...


_RATIO_BUCKETS = tuple(step / 10 for step in range(11))
_BYTE_BUCKETS = (0, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
_PLUGIN = ("plugin_name", "plugin_type")
_FLOW = ("endpoint_name", "namespace", "producer_name", "fairness_id", "priority")

M = TypeVar("M", Gauge, Histogram)


class _Twice(Generic[M]):
    """A metric by plugin, and its deprecated form without labels: that one sums over plugins, so it is recorded, not renamed."""

    def __init__(self, by_plugin: M, total: M) -> None:
        self._by_plugin, self._total = by_plugin, total
        self._known: dict[tuple[str, str], tuple[M, M]] = {}

    def of(self, plugin_name: str, plugin_type: str) -> tuple[M, M]:
        """Both forms for one plugin, to record in each."""
        key = (plugin_name, plugin_type)
        if key not in self._known:
            self._known[key] = (self._by_plugin.labels(*key), self._total)
        return self._known[key]


class PrometheusPluginMetrics(PrometheusDisaggregationMetrics):
    """`PluginMetrics` on a registry. Labelled series are looked up once and kept: recording happens for every request."""

    def __init__(self, registry: CollectorRegistry, fairness_ids: LabelCap | None = None, models: LabelCap | None = None) -> None:
        """`fairness_ids`, `models`: clients choose them, so their number is capped, with the same cap wherever they are a label."""
        super().__init__(registry, models)
        self._fairness_ids = fairness_ids or LabelCap()

        def gauge(name: str, text: str, labels: tuple[str, ...] = (), prefix: str = PREFIX) -> Gauge:
            return Gauge(name, text, labels, namespace=prefix, registry=registry)

        def histogram(name: str, text: str, buckets: tuple[float, ...]) -> _Twice[Histogram]:
            old = Histogram(name, f"Deprecated: use {PREFIX}_{name}.", namespace=EXTENSION_ALIAS, buckets=buckets, registry=registry)
            return _Twice(Histogram(name, text, _PLUGIN, namespace=PREFIX, buckets=buckets, registry=registry), old)

        size = "prefix_indexer_size"
        self._size = _Twice(
            gauge(size, "Entries of a prefix index.", _PLUGIN), gauge(size, f"Deprecated: use {PREFIX}_{size}.", prefix=EXTENSION_ALIAS)
        )
        self._ratio = histogram("prefix_indexer_hit_ratio", "Share of the prompt held by the chosen endpoint.", _RATIO_BUCKETS)
        self._bytes = histogram("prefix_indexer_hit_bytes", "Length of the part of the prompt that is held.", _BYTE_BUCKETS)
        self._requests = gauge("inflight_requests", "Requests in flight.", _FLOW)
        self._tokens = gauge("inflight_tokens", "Tokens in flight.", _FLOW)
        self._stale = gauge("flow_control_stale_endpoints", "Endpoints whose metrics are too old to use.", ("detector",))
        self._inflight: dict[tuple[str, str, str], dict[tuple[str, str], tuple[Gauge, Gauge]]] = {}  # by endpoint, then flow

    def prefix_index_size(self, plugin_name: str, plugin_type: str, entries: int) -> None:
        """Total entries of a prefix index."""
        for gauge in self._size.of(plugin_name, plugin_type):
            gauge.set(entries)

    def prefix_hit(self, plugin_name: str, plugin_type: str, *, ratio: float, hit_bytes: int) -> None:
        """Share and length of the prompt that the chosen endpoint was thought to hold."""
        for histogram in self._ratio.of(plugin_name, plugin_type):
            histogram.observe(ratio)
        for histogram in self._bytes.of(plugin_name, plugin_type):
            histogram.observe(hit_bytes)

    def inflight(self, endpoint_name: str, namespace: str, producer_name: str, flow: tuple[str, int], change: tuple[int, int]) -> None:
        """Change of what is in flight for a flow; an endpoint name is the last part of its id, such as `pod-rank-0`."""
        endpoint, kind = (endpoint_name, namespace, producer_name), (self._fairness_ids(flow[0]), str(flow[1]))
        flows = self._inflight.setdefault(endpoint, {})
        gauges = flows.get(kind)
        if gauges is None:
            labels = (*endpoint, *kind)
            gauges = flows[kind] = (self._requests.labels(*labels), self._tokens.labels(*labels))
        gauges[0].inc(change[0])
        gauges[1].inc(change[1])

    def inflight_gone(self, endpoint_name: str, namespace: str, producer_name: str) -> None:
        """Drop the endpoint's series: pods come and go, and each would leave some behind."""
        endpoint = (endpoint_name, namespace, producer_name)
        for kind in self._inflight.pop(endpoint, {}):
            self._requests.remove(*endpoint, *kind)
            self._tokens.remove(*endpoint, *kind)

    def stale_endpoints(self, detector: str, count: int) -> None:
        """Endpoints whose metrics are too old to use."""
        self._stale.labels(detector).set(count)
