"""What the pods counted while something was asked of the stack."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cli.verification.counters import CounterSource
from local.counters import Counters

SETTLE_SECONDS = 3.0  # a server may publish a request's counters a moment after its answer
PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Growth:
    """How much each pod counted between two readings."""

    by_pod: Mapping[str, Counters]

    @property
    def requests(self) -> float:
        """Requests of all pods."""
        return sum(counters.requests for counters in self.by_pod.values())

    @property
    def busy(self) -> list[str]:
        """The pods that answered something, by name."""
        return [name for name, counters in self.by_pod.items() if counters.requests > 0]

    def lines(self) -> list[str]:
        """A line a pod with everything it counted."""
        return [
            f"{name}: requests +{counters.requests:.0f}, prefix-cache hits +{counters.prefix_hits:.0f},"
            f" mm-cache queries +{counters.media_queries:.0f}, hits +{counters.media_hits:.0f}"
            for name, counters in self.by_pod.items()
        ]

    def describe(self) -> str:
        """`pod +2, other +1`."""
        return ", ".join(f"{name} +{self.by_pod[name].requests:.0f}" for name in self.busy) or "no pod counted a request"


def together(*growths: Growth) -> Growth:
    """Several growths, one after the other, as one."""
    names = dict.fromkeys(name for growth in growths for name in growth.by_pod)
    return Growth({name: _sum([growth.by_pod.get(name, Counters()) for growth in growths]) for name in names})


def _sum(counted: Sequence[Counters]) -> Counters:
    return Counters(
        requests=sum(one.requests for one in counted),
        prefix_hits=sum(one.prefix_hits for one in counted),
        prefix_queries=sum(one.prefix_queries for one in counted),
        media_hits=sum(one.media_hits for one in counted),
        media_queries=sum(one.media_queries for one in counted),
    )


class Meter:
    """Reads the counters before and after."""

    def __init__(self, source: CounterSource, settle_seconds: float = SETTLE_SECONDS) -> None:
        self._source = source
        self._settle_seconds = settle_seconds
        self._last: Mapping[str, Counters] = {}

    async def start(self) -> None:
        """Take the reading against which the next growth is measured."""
        self._last = await self._source.read()

    async def growth(self, expected_requests: int) -> Growth:
        """The growth since the last reading, as soon as the requests that were sent are counted, or when they are late."""
        deadline = asyncio.get_running_loop().time() + self._settle_seconds
        while True:
            now = await self._source.read()
            growth = Growth({name: counters.since(self._last.get(name, Counters())) for name, counters in now.items()})
            if growth.requests >= expected_requests or asyncio.get_running_loop().time() >= deadline:
                self._last = now
                return growth
            await asyncio.sleep(PAUSE_SECONDS)
