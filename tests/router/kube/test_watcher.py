import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest

from router.kube.access import Access
from router.kube.client import KubeClient, KubeError
from router.kube.watcher import LONGEST_PAUSE_SECONDS, Collection, Watcher
from tests.support.api_server import PODS, ApiServer, pod
from tests.support.waiting import until


class Names:
    """Keeps the names of the objects that there are."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.lists = 0

    def listed(self, objects: Sequence[Mapping[str, Any]]) -> None:
        self.lists += 1
        self.names = {found["metadata"]["name"] for found in objects}

    def changed(self, found: Mapping[str, Any]) -> None:
        self.names.add(found["metadata"]["name"])

    def deleted(self, found: Mapping[str, Any]) -> None:
        self.names.discard(found["metadata"]["name"])


class Rig:
    """A watcher of a server's pods; its pauses are recorded and take no time."""

    def __init__(self, server: ApiServer) -> None:
        self.server = server
        self.names = Names()
        self.pauses: list[float] = []

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await asyncio.sleep(0)


@asynccontextmanager
async def watching(*names: str) -> AsyncGenerator[Rig]:
    async with ApiServer().run() as server, KubeClient(Access(server=server.url)) as client, asyncio.TaskGroup() as group:
        for name in names:
            server.put(PODS, pod(name))
        rig = Rig(server)
        where = Collection(path=PODS, query={"labelSelector": "app=x"})
        task = group.create_task(Watcher(client, where, rig.names, random=Random(1), sleep=rig.pause).run())
        await server.watched(PODS)
        yield rig
        task.cancel()


async def test_objects_are_listed_then_followed_from_there() -> None:
    async with watching("a") as rig:
        rig.server.put(PODS, pod("b"))
        await until(lambda: rig.names.names == {"a", "b"})
        rig.server.delete(PODS, "a")
        await until(lambda: rig.names.names == {"b"})

        query = rig.server.requests[1][1]
        assert (query["resourceVersion"], query["allowWatchBookmarks"], query["labelSelector"]) == ("101", "true", "app=x")
        assert rig.server.lists(PODS) == 1


async def test_a_watch_that_ends_goes_on_from_the_last_bookmark() -> None:
    async with watching("a") as rig:
        rig.server.event(PODS, "BOOKMARK", {"metadata": {"resourceVersion": "555"}})
        rig.server.send(PODS, None)
        await rig.server.watched(PODS, 2)

        assert rig.server.requests[-1][1]["resourceVersion"] == "555"
        assert rig.names.lists == 1


async def test_a_version_that_is_too_old_lists_again_at_once() -> None:
    async with watching("a", "b") as rig:
        rig.server.forget(PODS, "a")
        rig.server.event(PODS, "ERROR", {"kind": "Status", "code": 410, "message": "too old resource version"})
        await until(lambda: rig.names.names == {"b"})

        assert rig.pauses == []
        assert rig.names.lists == 2


async def test_410_as_the_answer_to_a_watch_lists_again() -> None:
    async with watching("a") as rig:
        rig.server.statuses[PODS] = [410]
        rig.server.event(PODS, "BOOKMARK", {"metadata": {"resourceVersion": "7"}})
        rig.server.send(PODS, None)

        await until(lambda: rig.names.lists == 2)


async def test_a_connection_reset_in_the_middle_of_a_line_loses_nothing() -> None:
    async with watching("a") as rig:
        rig.server.send(PODS, b'{"type":"ADDED","object":{"metadata":{"na')
        rig.server.send(PODS, None)
        await rig.server.watched(PODS, 2)
        rig.server.put(PODS, pod("b"))

        await until(lambda: rig.names.names == {"a", "b"})
        assert rig.names.lists == 1


async def test_a_watch_that_brings_nothing_is_not_repeated_without_a_pause() -> None:
    async with watching("a") as rig:
        rig.server.send(PODS, None)
        await rig.server.watched(PODS, 2)

        assert len(rig.pauses) == 1


async def test_faults_are_tried_again_with_growing_pauses_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "router.kube")
    async with watching("a") as rig:
        rig.server.statuses[PODS] = [500] * 12
        rig.server.event(PODS, "ERROR", {"code": 500, "message": "as the test wants it"})
        await rig.server.watched(PODS, 2)

        assert len(rig.pauses) >= 12
        assert rig.pauses[0] < 1.0
        assert LONGEST_PAUSE_SECONDS / 2 <= rig.pauses[-1] <= LONGEST_PAUSE_SECONDS
        assert [record.message for record in caplog.records].count("objects cannot be followed") == 2  # two texts
        assert "objects are followed again" in caplog.text


class Unreachable:
    """An API server that never answers."""

    def __init__(self) -> None:
        self.calls = 0

    async def get(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        self.calls += 1
        raise KubeError("no answer")

    async def lines(self, path: str, query: Mapping[str, str], idle_seconds: float) -> AsyncIterator[dict[str, Any]]:
        raise KubeError("no answer")
        yield {}


async def test_an_unreachable_server_does_not_end_the_watcher() -> None:
    calls = Unreachable()
    watcher = Watcher(calls, Collection(path=PODS, query={}), Names(), random=Random(1), sleep=lambda _: asyncio.sleep(0))

    async with asyncio.TaskGroup() as group:
        task = group.create_task(watcher.run())
        await until(lambda: calls.calls > 2_000)
        task.cancel()
