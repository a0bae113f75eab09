from prometheus_client import CollectorRegistry

from router.metrics.datalayer import DatalayerMetrics


def test_faults_are_counted_under_both_names() -> None:
    registry = CollectorRegistry()
    metrics = DatalayerMetrics(registry)

    metrics.poll_failed("metrics-data-source")
    metrics.extract_failed("metrics-data-source", "core-metrics-extractor")

    source = {"source_type": "metrics-data-source"}
    both = {**source, "extractor_type": "core-metrics-extractor"}
    for prefix in ("llm_d_epp", "llm_d_inference_scheduler"):
        assert registry.get_sample_value(f"{prefix}_datalayer_poll_errors_total", source) == 1
        assert registry.get_sample_value(f"{prefix}_datalayer_extract_errors_total", both) == 1
