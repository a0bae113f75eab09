import asyncio
import os
import signal

import pytest

from local.interruption import Interruption, interruptible


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
async def test_the_first_signal_cancels_and_is_remembered(number: signal.Signals, code: int) -> None:
    async def until_cancelled() -> int:
        task = asyncio.current_task()
        assert task is not None
        with interruptible(task) as interruption:
            os.kill(os.getpid(), number)
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                assert interruption.signal == number
                assert not interruption.hurry.is_set()
                return interruption.exit_code
        return 0

    async with asyncio.TaskGroup() as group:
        task = group.create_task(until_cancelled())

    assert task.result() == code


async def test_the_second_signal_asks_to_hurry() -> None:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(asyncio.Event().wait())
        interruption = Interruption(task)

        interruption(signal.SIGINT)
        assert not interruption.hurry.is_set()
        interruption(signal.SIGINT)

    assert task.cancelled()
    assert interruption.hurry.is_set()


async def test_afterwards_signals_mean_what_they_did() -> None:
    task = asyncio.current_task()
    assert task is not None
    with interruptible(task):
        pass

    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
