from collections.abc import Mapping, Sequence

from cli.verification.counting import Growth, Meter, together
from local.counters import Counters


class Readings:
    """A source that gives one reading after the other, the last one for ever."""

    def __init__(self, *readings: Mapping[str, Counters]) -> None:
        self._readings: Sequence[Mapping[str, Counters]] = readings
        self.taken = 0

    async def read(self) -> Mapping[str, Counters]:
        self.taken += 1
        return self._readings[min(self.taken, len(self._readings)) - 1]


def reading(**requests: float) -> dict[str, Counters]:
    return {name: Counters(requests=count) for name, count in requests.items()}


async def test_growth_is_measured_from_the_start() -> None:
    meter = Meter(Readings(reading(a=5, b=1), reading(a=7, b=1)))
    await meter.start()

    growth = await meter.growth(2)

    assert growth.requests == 2
    assert growth.busy == ["a"]
    assert growth.describe() == "a +2"


async def test_a_server_that_publishes_late_is_waited_for() -> None:
    readings = Readings(reading(a=0), reading(a=0), reading(a=0), reading(a=1))
    meter = Meter(readings)
    await meter.start()

    assert (await meter.growth(1)).requests == 1
    assert readings.taken == 4


async def test_each_growth_starts_where_the_last_ended() -> None:
    meter = Meter(Readings(reading(a=0), reading(a=1), reading(a=1, b=1)))
    await meter.start()

    assert (await meter.growth(1)).busy == ["a"]
    assert (await meter.growth(1)).busy == ["b"]


def test_growths_add_up_pod_by_pod() -> None:
    first = Growth({"a": Counters(requests=1, media_queries=1)})
    second = Growth({"a": Counters(requests=1, prefix_hits=700, media_queries=1, media_hits=1), "b": Counters(requests=1)})

    assert together(first, second).lines() == [
        "a: requests +2, prefix-cache hits +700, mm-cache queries +2, hits +1",
        "b: requests +1, prefix-cache hits +0, mm-cache queries +0, hits +0",
    ]


def test_no_growth_is_said_in_words() -> None:
    assert Growth(reading(a=0)).describe() == "no pod counted a request"
