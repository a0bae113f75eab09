import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import aiohttp
import aiohttp.test_utils
import aiohttp.web
import pytest

from simulator.app import Server, SimServer
from simulator.clock import VirtualClock, settle
from simulator.options import parse
from tests.support.simulated import FAST, chat, counter, picture, served


async def test_a_server_for_tests_listens_on_a_free_port_and_frees_it() -> None:
    async with SimServer(FAST) as server:
        url = server.url
        assert url.startswith("http://127.0.0.1:")
    async with aiohttp.ClientSession() as client:
        with pytest.raises(aiohttp.ClientConnectorError):
            await client.get(url)


async def test_a_taken_port_is_an_os_error_and_nothing_stays_open() -> None:
    async with SimServer(FAST) as first:
        second = Server(parse([*FAST, "--host", "127.0.0.1", "--port", first.url.rsplit(":", 1)[1]], {}))
        with pytest.raises(OSError, match="address already in use"):
            await second.open()
        await second.close()


async def test_the_port_opens_after_the_startup_delay() -> None:
    clock = VirtualClock()
    server = Server(parse([*FAST, "--host", "127.0.0.1", "--port", "0", "--sim-startup-delay", "60"], {}), clock)
    async with asyncio.TaskGroup() as tasks:
        opening = tasks.create_task(_open_then_close(server))
        await clock.advance(59)
        assert server.url == ""
        await clock.advance(1)
        await settle()
        await opening
    assert server.url


async def _open_then_close(server: Server) -> None:
    await server.open()
    await server.close()


async def test_counters_go_on_after_a_reset() -> None:
    async with served() as (server, client):
        async with client.post("/v1/chat/completions", json=chat("x", max_tokens=3)):
            pass
        server.reset()

        assert server.journal.since() == []
        assert await counter(client, "vllm:generation_tokens_total") == 3


async def test_media_are_fetched_only_when_asked_to() -> None:
    async def send(_: aiohttp.web.Request) -> aiohttp.web.Response:
        asked.append(1)
        return aiohttp.web.Response(body=picture("blue"))

    asked: list[int] = []
    app = aiohttp.web.Application()
    app.router.add_get("/a.png", send)
    async with aiohttp.test_utils.TestServer(app) as web:
        body = chat("Which colour?", {"type": "image_url", "image_url": {"url": str(web.make_url("/a.png"))}})
        said = [await _said(flags, body) for flags in (("--sim-media", "infer"), ("--sim-media", "fetch"))]

    assert said == ["I cannot tell: the image was not loaded.", "The image is blue."]
    assert asked == [1]


async def _said(flags: tuple[str, ...], body: dict[str, object]) -> str:
    async with served(*flags) as (_, client), client.post("/v1/chat/completions", json=body) as response:
        return (await response.json())["choices"][0]["message"]["content"]


async def test_running_requests_go_on_for_the_shutdown_timeout_and_new_ones_get_503() -> None:
    async with slow_request("100") as (server, clock, client, answered), asyncio.TaskGroup() as tasks:
        closing = tasks.create_task(server.close())
        await settle()
        async with client.post("/v1/chat/completions", json=chat("x")) as response:
            assert response.status == 503
        while not closing.done():
            await clock.advance(1)
        assert await answered == "length"


async def test_without_a_shutdown_timeout_running_requests_are_cut_off() -> None:
    async with slow_request("0") as (server, _, _, answered):
        await server.close()
        assert await answered is None


@asynccontextmanager
async def slow_request(grace: str) -> AsyncGenerator[tuple[Server, VirtualClock, aiohttp.ClientSession, asyncio.Task[str | None]], None]:
    """A server in the middle of a request of 20 steps of a virtual second each; the caller closes it."""
    clock = VirtualClock()
    server = Server(parse([*FAST, "--host", "127.0.0.1", "--port", "0", "--sim-step-base", "1", "--shutdown-timeout", grace], {}), clock)
    await server.open()
    async with aiohttp.ClientSession(server.url) as client, asyncio.TaskGroup() as tasks:
        answered = tasks.create_task(_reason(client, chat("x", max_tokens=20, ignore_eos=True)))
        async with asyncio.timeout(10):
            while server.engine.scheduler.idle:  # noqa: ASYNC110 - the engine announces nothing to a test
                await asyncio.sleep(0)
        yield server, clock, client, answered


async def _reason(client: aiohttp.ClientSession, body: dict[str, object]) -> str | None:
    try:
        async with client.post("/v1/chat/completions", json=body) as response:
            return (await response.json())["choices"][0]["finish_reason"]
    except aiohttp.ClientError:
        return None


async def test_a_long_header_and_many_headers_are_read() -> None:
    headers = {"x-long": "a" * 60_000, **{f"x-{number}": "b" for number in range(200)}}
    async with served() as (_, client), client.get("/v1/models", headers=headers) as response:
        assert response.status == 200
