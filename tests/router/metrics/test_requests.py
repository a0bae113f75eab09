import pytest
from prometheus_client import CollectorRegistry

from router.metrics.labels import LabelCap
from router.metrics.requests import RequestMetrics, StreamCounts

L = {"model_name": "m", "target_model_name": "t", "fairness_id": "f", "priority": "-1"}
M = {"model_name": "m", "target_model_name": "t"}
EPP, OLD = "llm_d_epp", "inference_objective"


def buckets(registry: CollectorRegistry, name: str) -> list[float]:
    samples = [sample for metric in registry.collect() for sample in metric.samples if sample.name == f"{name}_bucket"]
    return [float(sample.labels["le"]) for sample in samples][:-1]


GENERAL = [
    *(0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60, 120, 180, 240, 300),
    *(360, 480, 600, 900, 1200, 1800, 2700, 3600),
]
RESPONSE = [1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32778, 65536]
OUTPUT = [1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]


@pytest.mark.parametrize(
    ("record", "name", "alias", "expected"),
    [
        ("duration", "request_duration_seconds", "request_duration_seconds", GENERAL),
        ("request_bytes", "request_size_bytes", "request_sizes", [64.0 * 2**k for k in range(25)]),
        ("response_bytes", "response_size_bytes", "response_sizes", RESPONSE),
        ("input_tokens", "request_input_tokens", "input_tokens", [*RESPONSE, 131072, 262144, 524288, 1048576]),
        ("output_tokens", "request_output_tokens", "output_tokens", OUTPUT),
        ("cached_tokens", "request_cached_tokens", "prompt_cached_tokens", [*RESPONSE, 131072, 262144, 524288, 1048576]),
        (
            "ntpot",
            "request_ntpot_seconds",
            "normalized_time_per_output_token_seconds",
            [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
        ),
    ],
)
def test_histogram_and_its_alias(record: str, name: str, alias: str, expected: list[float]) -> None:
    registry = CollectorRegistry()
    metrics = RequestMetrics(registry)

    getattr(metrics.series("m", "t", "f", -1), record)(1.0)
    getattr(metrics.series("m", "t", "other flow", 0), record)(2.0)

    assert registry.get_sample_value(f"{EPP}_{name}_sum", L) == 1.0
    assert registry.get_sample_value(f"{OLD}_{alias}_sum", M) == 3.0
    assert buckets(registry, f"{EPP}_{name}")[: len(expected)] == expected
    assert buckets(registry, f"{OLD}_{alias}") == expected


def test_counters_and_their_aliases() -> None:
    registry = CollectorRegistry()
    series = RequestMetrics(registry).series("m", "t", "f", -1)

    series.count_request()
    series.count_error("BadRequest")

    assert registry.get_sample_value(f"{EPP}_request_total", L) == 1
    assert registry.get_sample_value(f"{OLD}_request_total", {**M, "priority": "-1"}) == 1
    assert registry.get_sample_value(f"{EPP}_request_error_total", {**L, "error_code": "BadRequest"}) == 1
    assert registry.get_sample_value(f"{OLD}_request_error_total", {**M, "error_code": "BadRequest"}) == 1


def test_running_requests() -> None:
    registry = CollectorRegistry()
    running = RequestMetrics(registry).series("m", "t", "f", -1).running

    assert running is not None
    running.inc()

    assert registry.get_sample_value(f"{EPP}_request_running", L) == 1
    assert registry.get_sample_value(f"{OLD}_running_requests", {"model_name": "m"}) == 1


def test_requests_without_model_are_not_running() -> None:
    assert RequestMetrics(CollectorRegistry()).series("", "", "f", 0).running is None


def test_times_of_streams() -> None:
    registry = CollectorRegistry()
    series = RequestMetrics(registry).series("m", "t", "f", -1)

    series.ttft(0.5, streaming=True)
    series.ttft(0.25, streaming=False)
    series.tpot(0.1)
    series.itl(0.2)

    assert registry.get_sample_value(f"{EPP}_request_ttft_seconds_sum", {**L, "streaming": "true"}) == 0.5
    assert registry.get_sample_value(f"{EPP}_request_ttft_seconds_sum", {**L, "streaming": "false"}) == 0.25
    assert registry.get_sample_value(f"{EPP}_request_streaming_tpot_seconds_sum", L) == 0.1
    assert registry.get_sample_value(f"{EPP}_request_streaming_itl_seconds_sum", L) == 0.2


def test_processing_times() -> None:
    registry = CollectorRegistry()
    metrics = RequestMetrics(registry)

    metrics.request_processed(0.5)
    metrics.response_processed(0.25)
    metrics.response_processed(0.0)

    assert registry.get_sample_value(f"{EPP}_request_processing_duration_seconds_sum") == 0.5
    assert registry.get_sample_value(f"{EPP}_response_processing_duration_seconds_count") == 1


def test_same_labels_are_the_same_series() -> None:
    metrics = RequestMetrics(CollectorRegistry())

    assert metrics.series("m", "t", "f", 0) is metrics.series("m", "t", "f", 0)


def test_field_P44_names_of_clients_are_capped() -> None:
    registry = CollectorRegistry()
    metrics = RequestMetrics(registry, models=LabelCap(10), fairness_ids=LabelCap(10))

    for number in range(50):
        metrics.series(f"m{number}", f"m{number}", f"f{number}", 0).count_request()

    samples = [sample for metric in registry.collect() for sample in metric.samples if sample.name == f"{EPP}_request_total"]
    assert len(samples) == 11
    assert registry.get_sample_value(
        f"{EPP}_request_total", {"model_name": "other", "target_model_name": "other", "fairness_id": "other", "priority": "0"}
    )


def test_streams_are_counted() -> None:
    registry = CollectorRegistry()
    counts = StreamCounts(registry)

    counts.stream_opened()
    counts.stream_opened()
    counts.stream_ended("OK", 2.0)

    assert registry.get_sample_value(f"{EPP}_extproc_streams_inflight") == 1
    assert registry.get_sample_value(f"{EPP}_extproc_streams_total", {"code": "OK"}) == 1
    assert registry.get_sample_value(f"{EPP}_extproc_stream_duration_seconds_sum") == 2.0
