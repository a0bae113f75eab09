import asyncio
from typing import Any

import pytest

from router.framework.errors import ConfigError
from router.kube.access import Access
from router.kube.client import KubeClient, KubeError
from tests.support.api_server import PODS, ApiServer, pod


async def test_objects_are_read_with_the_token_of_the_moment() -> None:
    async with ApiServer().run() as server, KubeClient(Access(server=server.url, token=lambda: "t")) as client:
        server.put(PODS, pod("a"))

        found = await client.get(PODS, {"labelSelector": "app=x"})

        assert [item["metadata"]["name"] for item in found["items"]] == ["a"]
        assert server.tokens == ["Bearer t"]
        assert server.requests == [(PODS, {"labelSelector": "app=x"})]


async def test_an_error_carries_status_and_text() -> None:
    async with ApiServer().run() as server, KubeClient(Access(server=server.url)) as client:
        server.statuses[PODS] = [403]

        with pytest.raises(KubeError, match="status 403: as the test wants it") as refused:
            await client.get(PODS, {})

        assert refused.value.status == 403


async def test_no_answer_is_an_error_without_status() -> None:
    async with KubeClient(Access(server="http://127.0.0.1:9")) as client:
        with pytest.raises(KubeError, match="no answer") as refused:
            await client.get(PODS, {})

        assert refused.value.status == 0


async def test_lines_of_a_watch_arrive_as_objects_however_they_are_cut() -> None:
    async with ApiServer().run() as server, KubeClient(Access(server=server.url)) as client, asyncio.TaskGroup() as group:
        found: list[dict[str, Any]] = []

        async def follow() -> None:
            async for item in client.lines(PODS, {"watch": "true"}, 30.0):
                found.append(item)

        watch = group.create_task(follow())
        await server.watched(PODS)
        for piece in (b'{"a"', b': 1}\n{"b": 2}\n\n{"c":', b" 3}\n", None):
            server.send(PODS, piece)
        await watch

        assert found == [{"a": 1}, {"b": 2}, {"c": 3}]


async def test_a_line_that_is_cut_off_is_an_error() -> None:
    async with ApiServer().run() as server, KubeClient(Access(server=server.url)) as client, asyncio.TaskGroup() as group:

        async def follow() -> None:
            async for _ in client.lines(PODS, {"watch": "true"}, 30.0):
                pass

        async def refused() -> None:
            with pytest.raises(KubeError, match="cut off"):
                await follow()

        watch = group.create_task(refused())
        await server.watched(PODS)
        server.send(PODS, b'{"a": 1}\n{"b"')
        server.send(PODS, None)
        await watch


async def test_a_session_that_was_not_opened_is_an_error() -> None:
    with pytest.raises(KubeError, match="closed"):
        await KubeClient(Access(server="http://127.0.0.1:9")).get(PODS, {})


async def test_a_token_that_cannot_be_read_is_an_error_of_the_call() -> None:
    def token() -> str:
        raise ConfigError("cannot be read")

    async with KubeClient(Access(server="http://127.0.0.1:9", token=token)) as client:
        with pytest.raises(KubeError, match="cannot be read"):
            await client.get(PODS, {})
