import asyncio

import pytest
from prometheus_client import CollectorRegistry

from router.engine.datalayer.averages import PoolAverages
from router.engine.datalayer.endpoints import Endpoints
from router.framework.endpoint import EndpointMetadata, EndpointMetrics
from router.metrics.pool import PoolMetrics
from tests.support.engine import FakeClock


class Pool:
    """Endpoints with given metrics, and the gauges."""

    def __init__(self) -> None:
        self.clock = FakeClock(100.0)
        self.registry = CollectorRegistry()
        self.endpoints = Endpoints()
        self.averages = PoolAverages(self.endpoints, PoolMetrics(self.registry, "pool"), self.clock, 2.0)

    def add(self, name: str, *, age: float, waiting: int = 0, running: int = 0, usage: float = 0.0) -> None:
        endpoint = self.endpoints.upsert(EndpointMetadata(id=f"d/{name}-rank-0", name=name, namespace="d", address="10.0.0.1", port=8000))
        endpoint.metrics = EndpointMetrics(
            waiting_requests=waiting, running_requests=running, kv_cache_usage=usage, updated_at=self.clock() - age
        )

    def value(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(name, {"name": "pool", **labels})


def test_averages_are_over_endpoints_with_recent_metrics() -> None:
    pool = Pool()
    pool.add("a", age=0.5, waiting=1, running=2, usage=0.1)
    pool.add("b", age=2.0, waiting=4, running=3, usage=0.25)
    pool.add("old", age=2.1, waiting=100)

    pool.averages.refresh()

    assert pool.value("llm_d_epp_ready_endpoints") == 2
    assert pool.value("llm_d_epp_average_queue_size") == 2.5
    assert pool.value("llm_d_epp_average_running_requests") == 2.5
    assert pool.value("llm_d_epp_average_kv_cache_utilization") == 0.17  # 0.175, rounded half to even in binary
    assert pool.value("llm_d_epp_std_dev_queue_size") == 2.12
    assert pool.value("inference_pool_average_queue_size") == 2.5


def test_without_a_fresh_endpoint_the_averages_stay() -> None:
    pool = Pool()
    pool.add("a", age=0.0, waiting=3)
    pool.averages.refresh()
    pool.clock.now += 10

    pool.averages.refresh()

    assert pool.value("llm_d_epp_ready_endpoints") == 0
    assert pool.value("inference_pool_ready_pods") == 0
    assert pool.value("llm_d_epp_average_queue_size") == 3


def test_queues_are_read_when_the_page_is() -> None:
    pool = Pool()
    pool.add("a", age=0.0, waiting=3)

    assert pool.value("llm_d_epp_per_endpoint_queue_size", model_server_endpoint="a-rank-0") == 3
    assert pool.value("inference_pool_per_pod_queue_size", model_server_pod="a-rank-0") == 3
    pool.endpoints.clear()
    assert pool.value("llm_d_epp_per_endpoint_queue_size", model_server_endpoint="a-rank-0") is None


async def test_gauges_are_refreshed_again_and_again() -> None:
    pool = Pool()
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        pool.add("a", age=0.0, waiting=len(waited))
        if len(waited) == 3:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await pool.averages.run(5.0, sleep)

    assert waited == [5.0, 5.0, 5.0]
    assert pool.value("llm_d_epp_average_queue_size") == 2
