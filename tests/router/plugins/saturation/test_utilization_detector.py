from typing import Any

import pytest

from router.framework.endpoint import Endpoint
from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.plugins.saturation.utilization_detector import TYPE, Parameters, UtilizationDetector
from tests.support.engine import FakeClock, RecordingMetrics, candidate, inference_request, make_handle

NOW = 100.0


def detector(metrics: RecordingMetrics | None = None, **parameters: Any) -> UtilizationDetector:
    return UtilizationDetector(TYPE, decode(Parameters, parameters), make_handle(clock=FakeClock(NOW), metrics=metrics))


def fresh(queue: int, kv: float) -> Endpoint:
    return candidate(waiting_requests=queue, kv_cache_usage=kv, updated_at=NOW - 0.1)


def stale() -> Endpoint:
    return candidate(updated_at=NOW - 0.3)


@pytest.mark.parametrize(
    ("endpoints", "expected"),
    [
        pytest.param([fresh(2, 0.4), fresh(10, 0.1), stale()], 3.5 / 3, id="L01"),
        pytest.param([fresh(3, 0.6)], 0.75, id="L02"),
        pytest.param([], 1.0, id="L03"),
        pytest.param([candidate()], 1.0, id="never-scraped"),
    ],
)
def test_saturation(endpoints: list[Endpoint], expected: float) -> None:
    assert detector().saturation(endpoints) == pytest.approx(expected, rel=1e-9)


def test_stale_endpoints_are_counted() -> None:
    metrics = RecordingMetrics()

    detector(metrics).saturation([fresh(0, 0), stale(), candidate()])

    assert metrics.stale == [2]


def test_l04_filter_with_headroom() -> None:
    endpoints = [fresh(5, 0.5), fresh(6, 0.5), stale()]

    assert list(detector(headroom=0.2).filter(inference_request(), endpoints)) == endpoints[:1]


def test_l05_filter_keeps_all_when_none_has_room() -> None:
    endpoints = [fresh(9, 0.5), stale()]

    assert list(detector().filter(inference_request(), endpoints)) == endpoints


@pytest.mark.parametrize(
    "parameters",
    [
        {"queueDepthThreshold": 0},
        {"kvCacheUtilThreshold": 0},
        {"kvCacheUtilThreshold": 1.1},
        {"metricsStalenessThreshold": "0s"},
        {"metricsStalenessThreshold": 5},
        {"headroom": -0.1},
    ],
    ids=str,
)
def test_parameters_are_checked(parameters: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as raised:
        decode(Parameters, parameters)

    assert raised.value.field == next(iter(parameters))
