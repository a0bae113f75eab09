import asyncio
import itertools
from collections.abc import Callable, Iterable

import pytest
from prometheus_client import CollectorRegistry

from router.engine.datalayer.collector import GROUP_SIZE, Collector, Source, Surroundings
from router.engine.datalayer.endpoints import Endpoints
from router.engine.datalayer.pace import Pace
from router.fetch import FetchError
from router.framework.collecting import DataSource, Extractor, Target
from router.framework.endpoint import EndpointMetadata, LiveEndpoint
from router.metrics.datalayer import DatalayerMetrics
from tests.support.engine import FakeClock


class Pages:
    """A fetcher whose answers are set by the test."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.dropped: list[str] = []
        self.answer: bytes | Exception = b"page"
        self.hold: asyncio.Event | None = None

    async def get(self, target: Target) -> bytes:
        self.asked.append(target.url)
        if self.hold is not None:
            await self.hold.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def drop(self, target: Target) -> None:
        self.dropped.append(target.url)


class Steps(Pace):
    """Lets the collector take a number of steps; time passes as it waits."""

    def __init__(self, clock: FakeClock, intervals: Iterable[float | None] = ()) -> None:
        super().__init__(0.05, intervals, clock)
        self._now = clock
        self._left = 0
        self._go = asyncio.Event()
        self._done = asyncio.Event()

    def touch(self) -> None:
        """Always busy: see `wait`."""

    async def wait(self, seconds: float) -> None:
        super().touch()
        for _ in range(5):  # polls that are under way come to their end
            await asyncio.sleep(0)
        self._now.now += seconds
        self._left -= 1
        if self._left <= 0:
            self._done.set()
            self._go.clear()
            await self._go.wait()

    async def let(self, steps: int) -> None:
        self._left = steps
        self._done.clear()
        self._go.set()
        await self._done.wait()


class PageSource(DataSource):
    type_name = "page-source"

    def __init__(self, interval: float | None = None) -> None:
        super().__init__("source")
        self.interval_seconds = interval

    def target(self, endpoint: LiveEndpoint) -> Target:
        return Target(url=f"http://{endpoint.metadata.host_port}/")


class Reader(Extractor):
    type_name = "reader"

    def __init__(self) -> None:
        super().__init__("reader")
        self.read: list[str] = []
        self.outcome: tuple[str, ...] | Exception = ()
        self.heard: Callable[[str], None] = lambda _: None

    def extract(self, body: bytes, endpoint: LiveEndpoint) -> tuple[str, ...]:
        self.read.append(endpoint.metadata.name)
        self.heard(endpoint.metadata.name)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


class Rig:
    """A collector with everything around it, running while the test does."""

    def __init__(self, names: Iterable[str] = ("a",), interval: float | None = None) -> None:
        self.clock = FakeClock()
        self.pages = Pages()
        self.reader = Reader()
        self.pace = Steps(self.clock, [interval])
        self.registry = CollectorRegistry()
        self.endpoints = Endpoints()
        self.set(*names)
        around = Surroundings(fetcher=self.pages, metrics=DatalayerMetrics(self.registry), clock=self.clock)
        sources: list[Source] = [(PageSource(interval), (self.reader,))]
        self._collector = Collector(self.endpoints, sources, self.pace, around)
        self._group = asyncio.TaskGroup()

    def set(self, *names: str) -> None:
        self.endpoints.replace_all(EndpointMetadata(id=f"d/{name}", name=name, namespace="d", address=name, port=8000) for name in names)

    def counted(self, name: str) -> float:
        labels = {"source_type": "page-source", **({"extractor_type": "reader"} if "extract" in name else {})}
        return self.registry.get_sample_value(f"llm_d_epp_datalayer_{name}_errors_total", labels) or 0.0

    async def __aenter__(self) -> "Rig":
        await self._group.__aenter__()
        self._task = self._group.create_task(self._collector.run())
        return self

    async def __aexit__(self, *error: object) -> None:
        self._task.cancel()
        await self._group.__aexit__(None, None, None)


async def test_every_endpoint_is_polled_at_once_and_at_every_tick() -> None:
    async with Rig(["a", "b"]) as rig:
        await rig.pace.let(3)

        assert rig.reader.read == ["a", "b"] * 3


async def test_n10_a_source_with_an_interval_is_polled_at_every_so_many_ticks() -> None:
    async with Rig(interval=1.0) as rig:
        await rig.pace.let(41)

        assert len(rig.reader.read) == 3  # ticks of 50 ms: the first, the 21st and the 41st


async def test_endpoints_that_come_and_go_are_followed() -> None:
    async with Rig(["a"]) as rig:
        await rig.pace.let(1)
        rig.set("b")
        await rig.pace.let(1)

        assert rig.reader.read == ["a", "b"]
        assert rig.pages.dropped == ["http://a:8000/"]


async def test_large_pools_are_polled_in_groups() -> None:
    names = [f"p{i}" for i in range(GROUP_SIZE * 2)]
    async with Rig(names) as rig:
        await rig.pace.let(1)
        assert len(rig.reader.read) == GROUP_SIZE
        await rig.pace.let(1)

        assert sorted(rig.reader.read) == sorted(names)


async def test_field_p42_no_reading_of_a_hundred_endpoints_gets_older_than_a_quarter_of_a_second() -> None:
    names = [f"p{i}" for i in range(100)]
    async with Rig(names) as rig:
        read_at: dict[str, list[float]] = {name: [] for name in names}
        rig.reader.heard = lambda name: read_at[name].append(rig.clock.now)
        await rig.pace.let(60)

        for times in read_at.values():
            assert len(times) > 5
            assert max(later - earlier for earlier, later in itertools.pairwise(times)) <= 0.25


async def test_a_fault_is_counted_each_time_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    async with Rig() as rig:
        rig.pages.answer = FetchError("status 503")
        await rig.pace.let(3)

        assert rig.counted("poll") == 3
        assert [record.message for record in caplog.records] == ["endpoint cannot be polled"]


async def test_recovery_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    async with Rig() as rig:
        rig.pages.answer = FetchError("status 503")
        await rig.pace.let(1)
        rig.pages.answer = b""
        await rig.pace.let(2)

        assert [record.message for record in caplog.records] == ["endpoint cannot be polled", "endpoint is polled again"]


@pytest.mark.parametrize("outcome", [("waiting is missing",), RuntimeError("bug")], ids=["unread", "raised"])
async def test_a_page_that_cannot_be_read_is_counted_each_time_and_logged_once(
    outcome: tuple[str, ...] | Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async with Rig() as rig:
        rig.reader.outcome = outcome
        await rig.pace.let(3)

        assert rig.counted("extract") == 3
        assert [record.message for record in caplog.records] == ["page could not be read in full"]


async def test_an_unexpected_error_of_a_fetch_does_not_end_the_polling() -> None:
    async with Rig() as rig:
        rig.pages.answer = RuntimeError("bug")
        await rig.pace.let(1)
        rig.pages.answer = b""
        await rig.pace.let(1)

        assert rig.reader.read == ["a"]


async def test_an_endpoint_that_does_not_answer_is_not_asked_twice_at_a_time() -> None:
    async with Rig() as rig:
        rig.pages.hold = asyncio.Event()
        await rig.pace.let(4)

        assert len(rig.pages.asked) == 1
        rig.pages.hold.set()


async def test_a_page_of_an_endpoint_that_left_meanwhile_is_not_read() -> None:
    async with Rig() as rig:
        rig.pages.hold = asyncio.Event()
        await rig.pace.let(1)
        rig.set()
        rig.pages.hold.set()
        await rig.pace.let(2)

        assert rig.reader.read == []


async def test_without_sources_there_is_nothing_to_do() -> None:
    clock = FakeClock()
    around = Surroundings(fetcher=Pages(), metrics=DatalayerMetrics(CollectorRegistry()), clock=clock)

    await Collector(Endpoints(), [], Pace(0.05, [], clock), around).run()
