from typing import Any

import pytest

from router.framework.attributes.load import InflightLoad, inflight_load
from router.framework.endpoint import Endpoint
from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.plugins.saturation.concurrency_detector import TYPE, ConcurrencyDetector, Parameters
from tests.support.engine import candidate, inference_request, make_handle, names_of


def loaded(*loads: tuple[int, int]) -> list[Endpoint]:
    pool = [candidate(str(index)) for index in range(len(loads))]
    for endpoint, (requests, tokens) in zip(pool, loads, strict=True):
        endpoint.live.attributes[inflight_load()] = InflightLoad(requests=requests, tokens=tokens)
    return pool


def detector(**parameters: Any) -> ConcurrencyDetector:
    return ConcurrencyDetector(TYPE, decode(Parameters, parameters), make_handle())


@pytest.mark.parametrize(
    ("parameters", "loads", "expected"),
    [
        pytest.param({}, [(30, 0), (50, 0)], 0.4, id="L06"),
        pytest.param({"concurrencyMode": "tokens", "maxTokenConcurrency": 1000}, [(0, 900), (0, 300)], 0.6, id="L07"),
        pytest.param({"concurrencyMode": "hybrid", "maxTokenConcurrency": 1000}, [(10, 900), (50, 100)], 0.7, id="L08"),
        pytest.param({}, [], 1.0, id="no-endpoints"),
    ],
)
def test_the_share_in_use(parameters: dict[str, Any], loads: list[tuple[int, int]], expected: float) -> None:
    assert detector(**parameters).saturation(loaded(*loads)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("parameters", "loads", "kept"),
    [
        pytest.param({"headroom": 0.2}, [(119, 0), (120, 0)], "0", id="L09"),
        pytest.param({"concurrencyMode": "tokens", "maxTokenConcurrency": 10}, [(999, 9), (0, 10)], "0", id="tokens"),
        pytest.param({"concurrencyMode": "hybrid", "maxTokenConcurrency": 10}, [(99, 9), (100, 9), (99, 10)], "0", id="hybrid"),
        pytest.param({}, [(100, 0)], "", id="nothing-left"),
    ],
)
def test_endpoints_with_room_are_kept(parameters: dict[str, Any], loads: list[tuple[int, int]], kept: str) -> None:
    assert names_of(detector(**parameters).filter(inference_request(), loaded(*loads))) == list(kept)


@pytest.mark.parametrize(("field", "value"), [("maxConcurrency", 0), ("maxTokenConcurrency", -1), ("headroom", -0.1)])
def test_limits_that_make_no_sense_are_refused(field: str, value: float) -> None:
    with pytest.raises(ConfigError) as raised:
        decode(Parameters, {field: value})

    assert raised.value.field == field
