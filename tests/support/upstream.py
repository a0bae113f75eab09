"""A model server that keeps what it gets and answers as the request's `x-behaviour` header says."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

USAGE = b'{"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10,"prompt_tokens_details":{"cached_tokens":2}}}'
EVENTS = (
    b'data: {"choices":[{"delta":{"role":"assistant"}}]}\n\n',
    b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n',
    b'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}\n\n',
    b"data: [DONE]\n\n",
)


@dataclass(slots=True, kw_only=True)
class Received:
    """One request as it arrived."""

    method: str
    path: str
    headers: list[tuple[str, str]]
    sha256: str
    size: int


@dataclass(slots=True)
class Upstream:
    """Its requests and the gates of its slow answers."""

    port: int = 0
    received: list[Received] = field(default_factory=list[Received])
    arrived: asyncio.Event = field(default_factory=asyncio.Event)  # a slow request is being answered
    release: asyncio.Event = field(default_factory=asyncio.Event)  # slow answers may go on

    def reset(self) -> None:
        """Forget everything."""
        self.received.clear()
        self.arrived.clear()
        self.release.clear()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer; a client that is gone is no fault."""
        try:
            return await self._answer(request)
        except ConnectionResetError:
            return web.Response()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("upgrade") == "websocket":
            return await _echoing_socket(request)
        body = await request.read()
        headers = [(name.decode().lower(), value.decode()) for name, value in request.raw_headers]
        digest = hashlib.sha256(body).hexdigest()
        self.received.append(Received(method=request.method, path=request.path_qs, headers=headers, sha256=digest, size=len(body)))
        match request.headers.get("x-behaviour", "json"):
            case "stream" | "slow-stream" | "die" as behaviour:
                return await self._stream(request, behaviour)
            case "slow":
                self.arrived.set()
                await self.release.wait()
            case "error":
                return web.Response(status=500, body=b'{"error":"no"}', content_type="application/json")
            case "echo":
                return web.Response(body=body, content_type="application/octet-stream")
            case "cookies":
                response = web.Response(body=USAGE, content_type="application/json")
                response.headers.extend((("set-cookie", "a=1"), ("set-cookie", "b=2")))
                return response
            case _:
                pass
        return web.Response(body=USAGE, content_type="application/json")

    async def _stream(self, request: web.Request, behaviour: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for number, event in enumerate(EVENTS):
            await response.write(event)
            if number == 1 and behaviour == "slow-stream":
                self.arrived.set()
                await self.release.wait()
            if number == 1 and behaviour == "die":
                self.arrived.set()
                await self.release.wait()
                assert request.transport is not None
                request.transport.abort()
                break
        return response


async def _echoing_socket(request: web.Request) -> web.StreamResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for message in socket:
        await socket.send_str(message.data)
    return socket


@asynccontextmanager
async def running_upstream() -> AsyncGenerator[Upstream]:
    """A server on a free port of loopback."""
    upstream = Upstream()
    application = web.Application(client_max_size=64 * 1024 * 1024)
    application.router.add_route("*", "/{path:.*}", upstream.handle)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    upstream.port = runner.addresses[0][1]
    try:
        yield upstream
    finally:
        await runner.cleanup()
