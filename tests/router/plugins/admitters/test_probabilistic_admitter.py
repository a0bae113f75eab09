from dataclasses import replace
from random import Random
from typing import Any

import pytest

from router.framework.errors import ConfigError, DroppedReason, RequestError
from router.framework.parameters import decode
from router.plugins.admitters.probabilistic_admitter import TYPE, Parameters, ProbabilisticAdmitter
from tests.support.engine import candidate, inference_request, make_handle

FULL = [candidate(kv_cache_usage=1.0)]


def admitter(**parameters: Any) -> ProbabilisticAdmitter:
    return ProbabilisticAdmitter(TYPE, decode(Parameters, parameters), make_handle(random=Random(1)))


@pytest.mark.parametrize(
    ("saturation", "probability"),
    [
        pytest.param(0.1, 0.003, id="L10-0.1"),
        pytest.param(0.2, 0.096, id="L10-0.2"),
        pytest.param(0.3, 0.729, id="L10-0.3"),
        pytest.param(0.32, 1.0, id="L10-0.32"),
        pytest.param(0.0, 0.0, id="idle"),
    ],
)
def test_refusals_rise_steeply(saturation: float, probability: float) -> None:
    pool = [candidate(kv_cache_usage=saturation * 0.8), candidate(waiting_requests=1, kv_cache_usage=saturation * 0.8)]
    parameters = {"queueDepthThreshold": 10**9}

    assert admitter(**parameters).refusal(pool) == pytest.approx(probability)


def test_the_mean_of_the_fuller_of_queue_and_cache_counts() -> None:
    pool = [candidate(waiting_requests=1, kv_cache_usage=0.0), candidate(waiting_requests=0, kv_cache_usage=0.16)]

    assert admitter().refusal(pool) == pytest.approx(0.2**5 * 300)


def test_numbers_beyond_floats_are_a_certain_refusal() -> None:
    assert admitter(power=1e6, queueDepthThreshold=1).refusal([candidate(waiting_requests=10**9)]) == 1.0


async def test_requests_of_negative_priority_are_refused() -> None:
    sheddable = replace(inference_request(), priority=-1)

    with pytest.raises(RequestError) as raised:
        await admitter().admit(sheddable, FULL)

    assert raised.value.dropped_reason is DroppedReason.SATURATED


@pytest.mark.parametrize("priority", [0, 1])
async def test_others_always_pass(priority: int) -> None:
    await admitter().admit(replace(inference_request(), priority=priority), FULL)


async def test_an_idle_pool_and_no_pool_refuse_nobody() -> None:
    sheddable = replace(inference_request(), priority=-1)

    await admitter().admit(sheddable, [candidate()])
    await admitter().admit(sheddable, [])


@pytest.mark.parametrize(("field", "value"), [("queueDepthThreshold", 0), ("kvCacheUtilThreshold", 0), ("power", 0), ("k", -1)])
def test_parameters_that_make_no_sense_are_refused(field: str, value: float) -> None:
    with pytest.raises(ConfigError) as raised:
        decode(Parameters, {field: value})

    assert raised.value.field == field
