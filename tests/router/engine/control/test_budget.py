import asyncio

import pytest

from router.engine.control.budget import within


async def test_coroutine_that_never_waits_needs_no_timer() -> None:
    ran: list[int] = []

    async def quick() -> None:
        ran.append(1)

    await within(0.0, quick())  # no time at all

    assert ran == [1]


async def test_coroutine_that_waits_is_awaited_to_its_end() -> None:
    steps: list[str] = []

    async def slow() -> None:
        for step in "abc":
            await asyncio.sleep(0)
            steps.append(step)
        await asyncio.wait_for(asyncio.sleep(0), 5)

    await within(5.0, slow())

    assert steps == ["a", "b", "c"]


async def test_what_waits_too_long_is_cancelled() -> None:
    cancelled: list[bool] = []

    async def stuck() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    with pytest.raises(TimeoutError):
        await within(0.001, stuck())

    assert cancelled == [True]


@pytest.mark.parametrize("waits", [True, False])
async def test_error_passes(waits: bool) -> None:
    async def failing() -> None:
        if waits:
            await asyncio.sleep(0)
        raise KeyError("x")

    with pytest.raises(KeyError):
        await within(5.0, failing())


async def test_error_that_is_handled_inside_does_not_show() -> None:
    async def handling() -> None:
        future = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(future.set_exception, KeyError("x"))
        try:
            await future
        except KeyError:
            await asyncio.sleep(0)

    await within(5.0, handling())


async def test_cancellation_from_outside_reaches_the_coroutine() -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def waiting() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(within(60.0, waiting()))
        await started.wait()
        task.cancel()

    assert ended.is_set()
    assert task.cancelled()
