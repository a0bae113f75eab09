import pytest
from prometheus_client import CollectorRegistry

from router.metrics.disaggregation import PrometheusDisaggregationMetrics
from router.metrics.labels import LabelCap

PLUGIN = {"plugin_name": "n", "plugin_type": "t"}


def test_decisions_are_counted_under_both_names() -> None:
    registry = CollectorRegistry()
    metrics = PrometheusDisaggregationMetrics(registry)

    metrics.disagg_decision("n", "t", "m", "encode-decode")
    metrics.disagg_decision("n", "t", "m", "encode-decode")
    metrics.pd_decision("n", "t", "", "decode-only")

    labels = {"model_name": "m", "decision_type": "encode-decode"}
    assert registry.get_sample_value("llm_d_epp_disagg_decision_total", {**PLUGIN, **labels}) == 2
    assert registry.get_sample_value("llm_d_inference_scheduler_disagg_decision_total", labels) == 2
    labels = {"model_name": "unknown", "decision_type": "decode-only"}
    assert registry.get_sample_value("llm_d_epp_pd_decision_total", {**PLUGIN, **labels}) == 1
    assert registry.get_sample_value("llm_d_inference_scheduler_pd_decision_total", labels) == 1


def test_model_names_are_capped() -> None:
    registry = CollectorRegistry()
    metrics = PrometheusDisaggregationMetrics(registry, LabelCap(1))

    for number in range(3):
        metrics.disagg_decision("n", "t", f"m{number}", "decode-only")

    labels = {**PLUGIN, "model_name": "other", "decision_type": "decode-only"}
    assert registry.get_sample_value("llm_d_epp_disagg_decision_total", labels) == 2


def test_the_encoder_cache_is_counted_by_modality_and_pod() -> None:
    registry = CollectorRegistry()
    metrics = PrometheusDisaggregationMetrics(registry)

    metrics.encoder_cache_queried("n", "t", "image")
    metrics.encoder_cache_hit("n", "t", "pod", "image")
    metrics.encoder_cache_ratio("n", "t", 0.35, 2)
    metrics.encoder_cache_ratio("n", "t", 1.0, 1)

    assert registry.get_sample_value("llm_d_epp_encoder_cache_queries_total", {**PLUGIN, "modality": "image"}) == 1
    assert registry.get_sample_value("llm_d_epp_encoder_cache_hits_total", {**PLUGIN, "pod": "pod", "modality": "image"}) == 1
    assert registry.get_sample_value("llm_d_epp_encoder_cache_hit_ratio_bucket", {**PLUGIN, "le": "0.3"}) == 0
    assert registry.get_sample_value("llm_d_epp_encoder_cache_hit_ratio_bucket", {**PLUGIN, "le": "0.4"}) == 2
    assert registry.get_sample_value("llm_d_epp_encoder_cache_hit_ratio_bucket", {**PLUGIN, "le": "+Inf"}) == 3
    assert registry.get_sample_value("llm_d_epp_encoder_cache_hit_ratio_sum", PLUGIN) == pytest.approx(1.7)


def test_a_pod_that_is_gone_leaves_no_series() -> None:
    registry = CollectorRegistry()
    metrics = PrometheusDisaggregationMetrics(registry)
    for pod in ("gone", "here"):
        metrics.encoder_cache_hit("n", "t", pod, "image")

    metrics.encoder_cache_forgotten("n", "t", "gone")

    labels = {**PLUGIN, "modality": "image"}
    assert registry.get_sample_value("llm_d_epp_encoder_cache_hits_total", {**labels, "pod": "gone"}) is None
    assert registry.get_sample_value("llm_d_epp_encoder_cache_hits_total", {**labels, "pod": "here"}) == 1
