"""A Prometheus histogram small enough to be written on every scrape."""

from bisect import bisect_left
from collections.abc import Sequence


class Histogram:
    """Counts by bucket; `bounds` are the upper bounds without +Inf."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        """Count one value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    @property
    def count(self) -> int:
        """All values."""
        return sum(self.counts)


def one_two_five(limit: int) -> list[float]:
    """1, 2, 5, 10, ... up to `limit`."""
    bounds: list[float] = []
    power = 1
    while True:
        for step in (1, 2, 5):
            if step * power > limit:
                return bounds
            bounds.append(step * power)
        power *= 10
