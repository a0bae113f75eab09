import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from router.fetch import Fetcher, FetchError
from router.framework.collecting import Target
from router.tls import server_context
from tests.support.certificates import write_certificate

Reply = Callable[[asyncio.StreamWriter], Awaitable[None]]


class Server:
    """Answers each request with the next reply; counts connections."""

    def __init__(self, *replies: bytes, close_after: bool = False, tls: ssl.SSLContext | None = None) -> None:
        self._replies = list(replies)
        self._close_after = close_after
        self._tls = tls
        self.connections = 0
        self.requests: list[bytes] = []
        self.port = 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while self._replies:
                self.requests.append(await reader.readuntil(b"\r\n\r\n"))
                writer.write(self._replies.pop(0))
                await writer.drain()
                if self._close_after:
                    break
            else:
                await reader.read()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    @asynccontextmanager
    async def run(self) -> AsyncGenerator["Server"]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            await server.wait_closed()


def target(server: Server, scheme: str = "http", ca_path: str = "") -> Target:
    return Target(url=f"{scheme}://127.0.0.1:{server.port}/metrics", ca_path=ca_path)


def plain(body: bytes, head: bytes = b"") -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%s\r\n" % (len(body), head) + body


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"


@pytest.fixture
def fetcher() -> Fetcher:
    return Fetcher()


async def test_pages_come_over_one_kept_connection(fetcher: Fetcher) -> None:
    async with Server(plain(b"one"), plain(b"two")).run() as server:
        assert await fetcher.get(target(server)) == b"one"
        assert await fetcher.get(target(server)) == b"two"
        fetcher.close()

        assert server.connections == 1
        assert server.requests[0].startswith(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:")


@pytest.mark.parametrize(
    ("reply", "body"),
    [
        pytest.param(plain(b"x" * 200_000), b"x" * 200_000, id="large"),
        pytest.param(plain(b""), b"", id="empty"),
        pytest.param(CHUNKED, b"abcde", id="chunked"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\nto the end", b"to the end", id="until-close"),
        pytest.param(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", b"ok", id="http-1.0"),
    ],
)
async def test_every_framing_is_understood(fetcher: Fetcher, reply: bytes, body: bytes) -> None:
    async with Server(reply, close_after=True).run() as server:
        assert await fetcher.get(target(server)) == body
        fetcher.close()


async def test_a_connection_that_is_to_be_closed_is_not_used_again(fetcher: Fetcher) -> None:
    async with Server(plain(b"one", b"Connection: close\r\n"), plain(b"two")).run() as server:
        await fetcher.get(target(server))
        await fetcher.get(target(server))
        fetcher.close()

        assert server.connections == 2


async def test_a_connection_that_the_server_closed_is_replaced(fetcher: Fetcher) -> None:
    async with Server(plain(b"one"), plain(b"two"), close_after=True).run() as server:
        assert await fetcher.get(target(server)) == b"one"
        assert await fetcher.get(target(server)) == b"two"
        fetcher.close()


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        pytest.param(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", "status 503", id="status"),
        pytest.param(b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", "status 302", id="redirect"),
        pytest.param(b"SSH-2.0-x\r\n\r\n\r\n", "not HTTP", id="other-protocol"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "not HTTP", id="negative-length"),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "not HTTP", id="bad-chunk"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "before the answer was complete", id="cut-off"),
        pytest.param(b"", "without an answer", id="nothing"),
    ],
)
async def test_an_answer_that_is_no_page_is_an_error(fetcher: Fetcher, reply: bytes, text: str) -> None:
    async with Server(reply, close_after=True).run() as server:
        with pytest.raises(FetchError, match=text):
            await fetcher.get(target(server))
        fetcher.close()


async def test_a_port_where_nobody_listens_is_an_error(fetcher: Fetcher) -> None:
    async with Server().run() as server:
        gone = target(server)

    with pytest.raises(FetchError, match="cannot connect"):
        await fetcher.get(gone)


async def test_giving_up_closes_the_connection(fetcher: Fetcher) -> None:
    async with Server(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", plain(b"two")).run() as server:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await fetcher.get(target(server))

        assert await fetcher.get(target(server)) == b"two"
        assert server.connections == 2
        fetcher.close()


async def test_https_verifies_unless_told_not_to(fetcher: Fetcher, tmp_path: Path) -> None:
    write_certificate(tmp_path)
    async with Server(plain(b"one"), plain(b"two"), tls=server_context(tmp_path)).run() as server:
        with pytest.raises(FetchError, match="cannot connect"):
            await fetcher.get(target(server, "https"))

        assert await fetcher.get(target(server, "https", str(tmp_path / "tls.crt"))) == b"one"
        unverified = Target(url=f"https://127.0.0.1:{server.port}/metrics", verify_tls=False)
        assert await fetcher.get(unverified) == b"two"
        fetcher.close()
