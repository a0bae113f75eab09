"""Ctrl-C and SIGTERM: the first asks for an orderly stop, the second for a quick one."""

import asyncio
import contextlib
import signal
from collections.abc import Generator
from typing import Any


class Interruption:
    """Cancels one task at the first signal and sets `hurry` at the second."""

    def __init__(self, task: "asyncio.Task[Any]") -> None:
        self.hurry = asyncio.Event()
        self.signal: signal.Signals | None = None
        self._task = task

    def __call__(self, number: signal.Signals) -> None:
        """A signal came."""
        if self.signal is None:
            self.signal = number
            self._task.cancel()
        else:
            self.hurry.set()

    @property
    def exit_code(self) -> int:
        """What a shell calls a program that a signal ended."""
        return 128 + (self.signal or signal.SIGINT)


@contextlib.contextmanager
def interruptible(task: "asyncio.Task[Any]") -> Generator[Interruption]:
    """Listen for signals on behalf of `task`, until the context ends."""
    loop = asyncio.get_running_loop()
    interruption = Interruption(task)
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for number in numbers:
        loop.add_signal_handler(number, interruption, number)
    try:
        yield interruption
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
