import pytest
from prometheus_client import CollectorRegistry

from router.metrics.pool import PoolMetrics


@pytest.mark.parametrize(
    ("values", "mean", "deviation"),
    [
        pytest.param([1.0], 1.0, 0.0, id="one"),
        pytest.param([1.0, 2.0], 1.5, 0.71, id="two"),
        pytest.param([0.333, 0.333, 0.334], 0.33, 0.0, id="rounded"),
    ],
)
def test_mean_and_sample_deviation_have_two_decimals(values: list[float], mean: float, deviation: float) -> None:
    registry = CollectorRegistry()
    metrics = PoolMetrics(registry, "p")

    metrics.measured({"queue_size": values})

    assert registry.get_sample_value("llm_d_epp_average_queue_size", {"name": "p"}) == mean
    assert registry.get_sample_value("llm_d_epp_std_dev_queue_size", {"name": "p"}) == deviation


def test_deprecated_names_follow() -> None:
    registry = CollectorRegistry()
    metrics = PoolMetrics(registry, "p")

    metrics.measured({"kv_cache_utilization": [0.5], "running_requests": [2.0]})
    metrics.ready(3)

    assert registry.get_sample_value("inference_pool_average_kv_cache_utilization", {"name": "p"}) == 0.5
    assert registry.get_sample_value("inference_pool_average_running_requests", {"name": "p"}) == 2
    assert registry.get_sample_value("inference_pool_ready_pods", {"name": "p"}) == 3
    assert registry.get_sample_value("inference_pool_std_dev_queue_size", {"name": "p"}) is None


def test_queues_are_asked_for_at_every_reading() -> None:
    registry = CollectorRegistry()
    sizes = {"a-rank-0": 1}
    PoolMetrics(registry, "p").watch_queues(sizes.items)

    sizes["a-rank-0"] = 7

    labels = {"name": "p", "model_server_endpoint": "a-rank-0"}
    assert registry.get_sample_value("llm_d_epp_per_endpoint_queue_size", labels) == 7
