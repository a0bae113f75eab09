"""How often endpoints are polled."""

import asyncio
import contextlib
from collections.abc import Iterable

from router.framework.plugin import Clock

MIN_TICK_SECONDS = 0.05
MAX_TICK_SECONDS = 0.25
POLLS_PER_SECOND = 800.0  # 100 endpoints are polled every 125 ms
IDLE_AFTER_SECONDS = 5.0
IDLE_TICK_SECONDS = 0.15  # saturation is judged by metrics of the last 200 ms, so an idle pool must not get older


class Pace:
    """A tick that starts at what is configured and grows with the pool, so that the cost of polling stays flat.

    Up to 200 endpoints no reading gets older than the largest tick; larger pools keep that tick, and cost more. Without new
    requests for a while the tick is that of an idle pool; the first request ends that at once.
    """

    def __init__(self, refresh_seconds: float, source_intervals: Iterable[float | None], clock: Clock) -> None:
        configured = [refresh_seconds, *(interval for interval in source_intervals if interval)]
        self._tick = max(min(configured), MIN_TICK_SECONDS)
        self._clock = clock
        self._busy_until = clock() + IDLE_AFTER_SECONDS
        self._woken = asyncio.Event()

    def touch(self) -> None:
        """A request came in."""
        self._busy_until = self._clock() + IDLE_AFTER_SECONDS
        self._woken.set()

    def tick(self, endpoints: int) -> float:
        """Seconds between two ticks of a pool of this size."""
        busy = max(self._tick, min(endpoints / POLLS_PER_SECOND, MAX_TICK_SECONDS))
        return busy if self._clock() < self._busy_until else max(busy, IDLE_TICK_SECONDS)

    def every(self, interval_seconds: float | None) -> int:
        """Ticks between two polls of a source: its interval rounded to the nearest multiple of the tick, at least one."""
        return max(1, round(interval_seconds / self._tick)) if interval_seconds else 1

    def seconds_between(self, interval_seconds: float | None) -> float:
        """The same as time, at the configured tick."""
        return self.every(interval_seconds) * self._tick

    async def wait(self, seconds: float) -> None:
        """Wait; a request that ends an idle time ends the waiting too."""
        if self._clock() < self._busy_until:
            await asyncio.sleep(seconds)
            return
        self._woken.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()
