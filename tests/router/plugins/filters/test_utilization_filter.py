from typing import Any

import pytest

from router.framework.attributes.load import InflightLoad, inflight_load
from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.plugins.filters.utilization_filter import TYPE, Parameters, UtilizationFilter
from tests.support.engine import candidate, inference_request, make_handle, names_of


def kept(*conditions: tuple[str, float], fallback: bool = False) -> list[str]:
    parameters = {"conditions": [{"metric": metric, "maxValue": most} for metric, most in conditions], "fallbackOnEmpty": fallback}
    idle = candidate("idle")
    busy = candidate("busy", running_requests=5, waiting_requests=4, kv_cache_usage=0.9)
    busy.live.attributes[inflight_load()] = InflightLoad(requests=7)
    return names_of(UtilizationFilter(TYPE, decode(Parameters, parameters), make_handle()).filter(inference_request(), [idle, busy]))


@pytest.mark.parametrize(
    ("metric", "most"), [("active-requests", 7), ("running-requests", 5), ("waiting-queue", 4), ("kv-cache-utilization", 0.9)]
)
def test_the_limit_itself_is_within(metric: str, most: float) -> None:
    assert kept((metric, most)) == ["idle", "busy"]
    assert kept((metric, most - 0.1)) == ["idle"]


def test_all_conditions_must_hold() -> None:
    assert kept(("running-requests", 5), ("waiting-queue", 3)) == ["idle"]


def test_nothing_left_is_nothing_unless_all_are_wanted_then() -> None:
    assert kept(("waiting-queue", -1)) == []
    assert kept(("waiting-queue", -1), fallback=True) == ["idle", "busy"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"conditions": []}, "must not be empty"),
        ({"conditions": [{"metric": "heat", "maxValue": 1}]}, "'heat' is not one of"),
        ({}, "required"),
    ],
)
def test_what_makes_no_sense_is_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        decode(Parameters, parameters)


def test_the_load_is_needed_only_where_it_is_looked_at() -> None:
    def needs(metric: str) -> bool:
        parameters = decode(Parameters, {"conditions": [{"metric": metric, "maxValue": 1}]})
        return bool(UtilizationFilter(TYPE, parameters, make_handle()).consumes().required)

    assert needs("active-requests")
    assert not needs("waiting-queue")
