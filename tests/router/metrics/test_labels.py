from prometheus_client import CollectorRegistry

from router.metrics.labels import LabelCap
from router.metrics.requests import RequestMetrics
from router.metrics.scheduling import SchedulingMetrics


def test_field_P44_later_values_become_other() -> None:
    cap = LabelCap()

    labels = {cap(f"model-{number}") for number in range(5000)}

    assert len(labels) == 1001
    assert cap("model-0") == "model-0"
    assert cap("model-4999") == "other"


def test_empty_stays_empty_and_is_not_counted() -> None:
    cap = LabelCap(1)

    assert [cap(""), cap("a"), cap(""), cap("b")] == ["", "a", "", "other"]


def test_kept_values_pass_and_are_not_counted() -> None:
    cap = LabelCap(1)
    cap.keep(["rule"])

    assert [cap("rule"), cap("a"), cap("rule"), cap("b")] == ["rule", "a", "rule", "other"]


def test_field_P44_a_very_long_value_is_other_and_not_counted() -> None:
    cap = LabelCap(1)

    assert [cap("m" * 257), cap("m" * 1_000_000), cap("m" * 256), cap("b")] == ["other", "other", "m" * 256, "other"]


def test_who_shares_a_cap_calls_the_same_names_other() -> None:
    cap, registry = LabelCap(1), CollectorRegistry()
    requests, scheduling = RequestMetrics(registry, models=cap), SchedulingMetrics(registry, cap)

    scheduling.failed("first")
    scheduling.failed("second")
    requests.series("second", "second", "f", 0).count_request()

    labels = {"model_name": "other", "target_model_name": "other", "fairness_id": "f", "priority": "0"}
    attempt = {"status": "failure", "target_model_name": "other", "endpoint_name": "", "namespace": "", "port": ""}
    assert registry.get_sample_value("llm_d_epp_request_total", labels) == 1
    assert registry.get_sample_value("llm_d_epp_scheduler_attempts_total", attempt) == 1
