from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics

from router.metrics.labels import LabelCap
from router.metrics.scheduling import SchedulingMetrics

BUCKETS = ["0.0001", "0.0002", "0.0005", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1", "+Inf"]


def recorded() -> CollectorRegistry:
    registry = CollectorRegistry()
    metrics = SchedulingMetrics(registry)
    metrics.decided(0.0003)
    metrics.succeeded("m", "pod", "ns", 8000)
    metrics.plugin_duration("Scorer", "queue-scorer", "q")(0.0015)
    return registry


def test_old_names_repeat_the_new_ones() -> None:
    registry = recorded()

    for prefix, endpoint in (("llm_d_epp", "endpoint_name"), ("inference_extension", "pod_name")):
        attempts = {"status": "success", "target_model_name": "m", endpoint: "pod", "namespace": "ns", "port": "8000"}
        plugin = {"extension_point": "Scorer", "plugin_type": "queue-scorer", "plugin_name": "q"}
        assert registry.get_sample_value(f"{prefix}_scheduler_attempts_total", attempts) == 1
        assert registry.get_sample_value(f"{prefix}_scheduler_e2e_duration_seconds_count") == 1
        assert registry.get_sample_value(f"{prefix}_plugin_duration_seconds_count", plugin) == 1


def test_buckets() -> None:
    for prefix in ("llm_d_epp", "inference_extension"):
        samples = [sample for metric in recorded().collect() for sample in metric.samples]
        bounds = [sample.labels["le"] for sample in samples if sample.name == f"{prefix}_scheduler_e2e_duration_seconds_bucket"]
        assert bounds == BUCKETS


def test_both_expositions_can_be_written() -> None:
    registry = recorded()

    assert b"inference_extension_scheduler_attempts_total{" in generate_latest(registry)
    assert generate_openmetrics(registry).endswith(b"# EOF\n")


def test_a_recorder_is_resolved_once() -> None:
    metrics = SchedulingMetrics(CollectorRegistry())

    assert metrics.plugin_duration("Filter", "t", "n") == metrics.plugin_duration("Filter", "t", "n")


def test_field_p44_model_names_are_capped() -> None:
    registry = CollectorRegistry()
    metrics = SchedulingMetrics(registry, LabelCap(limit=2))
    for number in range(50):
        metrics.failed(f"m{number}")
        metrics.succeeded(f"m{number}", "pod", "ns", 8000)

    samples = [sample for metric in registry.collect() for sample in metric.samples if sample.name.endswith("attempts_total")]
    assert {sample.labels["target_model_name"] for sample in samples} == {"m0", "m1", "other"}
