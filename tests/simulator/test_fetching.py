import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from simulator.errors import ApiError
from simulator.fetching import HttpFetcher


async def picture(_: web.Request) -> web.Response:
    return web.Response(body=b"picture")


async def test_a_body_is_fetched_and_a_missing_one_is_422() -> None:
    app = web.Application()
    app.router.add_get("/a.png", picture)
    async with TestServer(app) as server, aiohttp.ClientSession() as session:
        fetcher = HttpFetcher(session)
        assert await fetcher.fetch(str(server.make_url("/a.png"))) == b"picture"

        with pytest.raises(ApiError, match="HTTP 404 error") as caught:
            await fetcher.fetch(str(server.make_url("/b.png")))
        assert (caught.value.status, caught.value.param) == (422, "image_url")


async def test_a_host_that_refuses_is_500() -> None:
    async with aiohttp.ClientSession() as session:
        with pytest.raises(ApiError, match="Cannot connect to host") as caught:
            await HttpFetcher(session).fetch("http://127.0.0.1:1/a.png")
    assert caught.value.status == 500
