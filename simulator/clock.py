"""Time, real or advanced by hand. Everything that waits or measures takes one of these."""

import asyncio
import heapq
import time
from itertools import count
from typing import Protocol


class Clock(Protocol):
    """Monotonic seconds and a way to wait."""

    def now(self) -> float:
        """Monotonic seconds."""
        ...

    def wall(self) -> float:
        """Unix seconds, for `created` fields and metrics."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds`; 0 lets other tasks run once."""
        ...


class RealClock:
    """The machine's clock."""

    def now(self) -> float:
        """Monotonic seconds."""
        return time.monotonic()

    def wall(self) -> float:
        """Unix seconds."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait for real."""
        await asyncio.sleep(seconds)


class VirtualClock:
    """Stands still until `advance`; sleepers wake in the order of their times."""

    def __init__(self, start: float = 1_000.0) -> None:
        self._now = start
        self._order = count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now(self) -> float:
        """Virtual seconds."""
        return self._now

    def wall(self) -> float:
        """Virtual seconds too: a run's output does not depend on the day."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was advanced far enough."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + seconds, next(self._order), future))
        await future

    async def advance(self, seconds: float) -> None:
        """Move on by `seconds`, waking sleepers one by one so that each can sleep again inside the span."""
        end = self._now + seconds
        await settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            self._now, _, future = heapq.heappop(self._sleepers)
            if not future.done():
                future.set_result(None)
            await settle()
        self._now = end


async def settle(rounds: int = 20) -> None:
    """Let every ready task run until nothing moves without time passing."""
    for _ in range(rounds):
        await asyncio.sleep(0)
