"""How often endpoints are polled."""

from collections.abc import Iterable

MIN_TICK_SECONDS = 0.05
MAX_TICK_SECONDS = 0.25
POLLS_PER_SECOND = 800.0  # 100 endpoints are polled every 125 ms, for about a sixth of a core


class Pace:
    """A tick that starts at what is configured and grows with the pool, so that the cost of polling stays flat.

    Up to `POLLS_PER_SECOND` times `MAX_TICK_SECONDS` endpoints no reading gets older than the largest tick. Larger pools keep that
    tick, and cost more.
    """

    def __init__(self, refresh_seconds: float, source_intervals: Iterable[float | None]) -> None:
        configured = [refresh_seconds, *(interval for interval in source_intervals if interval)]
        self._tick = max(min(configured), MIN_TICK_SECONDS)

    def tick(self, endpoints: int) -> float:
        """Seconds between two ticks of a pool of this size."""
        return max(self._tick, min(endpoints / POLLS_PER_SECOND, MAX_TICK_SECONDS))

    def every(self, interval_seconds: float | None) -> int:
        """Ticks between two polls of a source: its interval rounded to the nearest multiple of the tick, at least one."""
        return max(1, round(interval_seconds / self._tick)) if interval_seconds else 1
