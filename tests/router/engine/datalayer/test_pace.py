import asyncio

import pytest

from router.engine.datalayer.pace import IDLE_AFTER_SECONDS, Pace
from tests.support.engine import FakeClock


@pytest.mark.parametrize(
    ("interval", "ticks"),
    [
        pytest.param(1.0, 20, id="n10_1s"),
        pytest.param(0.07, 1, id="n10_70ms"),
        pytest.param(0.02, 1, id="n10_20ms"),
        pytest.param(None, 1, id="n10_every_tick"),
    ],
)
def test_n10_intervals_are_whole_ticks(interval: float | None, ticks: int) -> None:
    assert Pace(0.05, [], FakeClock()).every(interval) == ticks


@pytest.mark.parametrize(
    ("refresh", "intervals", "tick"),
    [
        pytest.param(0.1, [], 0.1, id="configured"),
        pytest.param(0.01, [], 0.05, id="minimum"),
        pytest.param(0.1, [0.07, None], 0.07, id="smallest-source"),
        pytest.param(0.1, [0.001], 0.05, id="source-below-minimum"),
    ],
)
def test_the_tick_is_the_smallest_that_is_wanted_and_allowed(refresh: float, intervals: list[float | None], tick: float) -> None:
    assert Pace(refresh, intervals, FakeClock()).tick(4) == tick


def test_field_p42_the_tick_grows_with_the_pool_and_is_bounded() -> None:
    pace = Pace(0.05, [], FakeClock())

    assert pace.tick(40) == 0.05
    assert pace.tick(100) == 0.125
    assert pace.tick(10_000) == 0.25


def test_an_idle_pool_is_polled_less_until_a_request_comes() -> None:
    clock = FakeClock()
    pace = Pace(0.05, [], clock)
    clock.now += IDLE_AFTER_SECONDS

    assert pace.tick(4) == 0.15
    pace.touch()
    assert pace.tick(4) == 0.05


async def test_a_request_ends_the_waiting_of_an_idle_pool() -> None:
    clock = FakeClock()
    pace = Pace(0.05, [], clock)
    clock.now += IDLE_AFTER_SECONDS

    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(pace.wait(3600))
        await asyncio.sleep(0)
        pace.touch()
        await waiting


async def test_waiting_ends_by_itself() -> None:
    clock = FakeClock()
    pace = Pace(0.05, [], clock)

    await pace.wait(0.001)
    clock.now += IDLE_AFTER_SECONDS
    await pace.wait(0.001)
