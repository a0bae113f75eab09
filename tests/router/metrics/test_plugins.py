from prometheus_client import CollectorRegistry

from router.metrics.labels import LabelCap
from router.metrics.plugins import PrometheusPluginMetrics

PLUGIN = {"plugin_name": "n", "plugin_type": "t"}


def test_the_prefix_index_is_told_by_plugin_and_without_labels() -> None:
    registry = CollectorRegistry()
    metrics = PrometheusPluginMetrics(registry)

    metrics.prefix_index_size("n", "t", 12)
    metrics.prefix_hit("n", "t", ratio=0.35, hit_bytes=100)

    for prefix, labels in (("llm_d_epp", PLUGIN), ("inference_extension", {})):
        assert registry.get_sample_value(f"{prefix}_prefix_indexer_size", labels) == 12
        assert registry.get_sample_value(f"{prefix}_prefix_indexer_hit_ratio_bucket", {**labels, "le": "0.3"}) == 0
        assert registry.get_sample_value(f"{prefix}_prefix_indexer_hit_ratio_bucket", {**labels, "le": "0.4"}) == 1
        assert registry.get_sample_value(f"{prefix}_prefix_indexer_hit_bytes_bucket", {**labels, "le": "64.0"}) == 0
        assert registry.get_sample_value(f"{prefix}_prefix_indexer_hit_bytes_bucket", {**labels, "le": "128.0"}) == 1


def test_what_is_in_flight_goes_up_and_down() -> None:
    registry = CollectorRegistry()
    metrics = PrometheusPluginMetrics(registry)

    metrics.inflight("pod-rank-0", "d", "p", ("flow", -1), (1, 100))
    metrics.inflight("pod-rank-0", "d", "p", ("flow", -1), (1, 50))
    metrics.inflight("pod-rank-0", "d", "p", ("flow", -1), (-1, -100))

    labels = {"endpoint_name": "pod-rank-0", "namespace": "d", "producer_name": "p", "fairness_id": "flow", "priority": "-1"}
    assert registry.get_sample_value("llm_d_epp_inflight_requests", labels) == 1
    assert registry.get_sample_value("llm_d_epp_inflight_tokens", labels) == 50


def test_an_endpoint_that_left_leaves_no_series() -> None:
    registry = CollectorRegistry()
    metrics = PrometheusPluginMetrics(registry)
    metrics.inflight("gone-rank-0", "d", "p", ("flow", 0), (1, 100))
    metrics.inflight("stays-rank-0", "d", "p", ("flow", 0), (1, 100))

    metrics.inflight_gone("gone-rank-0", "d", "p")
    metrics.inflight_gone("never-seen", "d", "p")

    names = [s.labels["endpoint_name"] for metric in registry.collect() for s in metric.samples if "inflight" in s.name]
    assert names == ["stays-rank-0"] * 2
    metrics.inflight("gone-rank-0", "d", "p", ("flow", 0), (2, 5))
    labels = {"endpoint_name": "gone-rank-0", "namespace": "d", "producer_name": "p", "fairness_id": "flow", "priority": "0"}
    assert registry.get_sample_value("llm_d_epp_inflight_requests", labels) == 2


def test_fairness_ids_are_capped() -> None:
    registry = CollectorRegistry()
    metrics = PrometheusPluginMetrics(registry, LabelCap(2))

    for number in range(10):
        metrics.inflight("e", "d", "p", (f"flow-{number}", 0), (1, 1))

    labels = {"endpoint_name": "e", "namespace": "d", "producer_name": "p", "fairness_id": "other", "priority": "0"}
    assert registry.get_sample_value("llm_d_epp_inflight_requests", labels) == 8


def test_stale_endpoints_are_told_by_detector() -> None:
    registry = CollectorRegistry()

    PrometheusPluginMetrics(registry).stale_endpoints("utilization-detector", 3)

    assert registry.get_sample_value("llm_d_epp_flow_control_stale_endpoints", {"detector": "utilization-detector"}) == 3


def test_one_object_records_for_every_plugin() -> None:
    registry = CollectorRegistry()
    metrics = PrometheusPluginMetrics(registry)

    metrics.prefix_hit("n", "t", ratio=0.35, hit_bytes=100)
    metrics.encoder_cache_queried("n", "t", "image")
    metrics.encoder_cache_hit("n", "t", "pod", "image")
    metrics.encoder_cache_ratio("n", "t", 0.75, 1)
    metrics.disagg_decision("n", "t", "m", "decode-only")
    metrics.pd_decision("n", "t", "m", "decode-only")

    assert registry.get_sample_value("llm_d_epp_prefix_indexer_hit_ratio_sum", PLUGIN) == 0.35
    assert registry.get_sample_value("llm_d_epp_encoder_cache_hit_ratio_sum", PLUGIN) == 0.75
