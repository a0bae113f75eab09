"""The metrics port: `/metrics` and pages for debugging."""

import asyncio
import cProfile
import io
import pstats
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from router.framework.errors import ConfigError
from router.framework.plugin import Plugin

MAX_PROFILE_SECONDS = 60.0

Render = Callable[[str], tuple[Iterable[bytes], str]]  # the Accept header -> page in pieces, content type
Allow = Callable[[str, str], Awaitable[int]]  # Authorization header, path -> 200, 401 or 403


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """What the port serves."""

    metrics: Render
    plugins: Mapping[str, Plugin] | None = None  # None: no plugin state
    debug: bool = False
    allow: Allow | None = None  # None: everyone


class AdminServer:
    """HTTP server of the metrics port."""

    def __init__(self, pages: Pages, host: str, port: int, tls: ssl.SSLContext | None = None) -> None:
        self._pages = pages
        self._host = host
        self._port = port
        self._tls = tls
        self._runner: web.AppRunner | None = None

    async def start(self) -> int:
        """Serve; returns the port. Raises ConfigError when it is taken."""
        runner = web.AppRunner(_application(self._pages), access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, self._host or None, self._port, ssl_context=self._tls)
        try:
            await site.start()
        except OSError as error:
            await runner.cleanup()
            raise ConfigError(f"cannot listen on {self._host}:{self._port}: {error.strerror}", source="metrics port") from None
        self._runner = runner
        addresses: Any = runner.addresses
        return int(addresses[0][1])

    async def stop(self) -> None:
        """Stop at once."""
        if self._runner is not None:
            await self._runner.cleanup()


def _application(pages: Pages) -> web.Application:
    application = web.Application(middlewares=[_guard(pages.allow)] if pages.allow else [])

    async def metrics(request: web.Request) -> web.Response:
        pieces, content_type = pages.metrics(request.headers.get("Accept", ""))
        body = bytearray()
        for piece in pieces:
            body += piece
            await asyncio.sleep(0)  # requests are placed between two pieces
        return web.Response(body=bytes(body), headers={"Content-Type": content_type})

    async def plugin_state(_: web.Request) -> web.Response:
        states = {name: plugin.debug_state() for name, plugin in (pages.plugins or {}).items()}
        return web.json_response({name: state for name, state in states.items() if state is not None})

    application.router.add_get("/metrics", metrics)
    if pages.plugins is not None:
        application.router.add_get("/debug/plugins/state", plugin_state)
    if pages.debug:
        application.router.add_get("/debug/tasks", _tasks)
        application.router.add_get("/debug/profile", _Profiler().profile)
    return application


async def _tasks(_: web.Request) -> web.Response:
    """Every task of the process and where it waits."""
    text = io.StringIO()
    for task in asyncio.all_tasks():
        task.print_stack(limit=4, file=text)
    return web.Response(text=text.getvalue())


class _Profiler:
    """Where the process spends its time, for `?seconds=` (5) seconds. One at a time: the interpreter has one profiler."""

    def __init__(self) -> None:
        self._running = False

    async def profile(self, request: web.Request) -> web.Response:
        """Functions by the time spent in them, as text."""
        try:
            seconds = float(request.query.get("seconds", "5"))
        except ValueError:
            seconds = -1.0
        if not 0 <= seconds <= MAX_PROFILE_SECONDS:
            return web.Response(status=400, text=f"seconds: allowed are 0 to {MAX_PROFILE_SECONDS:g}\n")
        if self._running:
            return web.Response(status=409, text="a profile is being taken\n")
        self._running = True
        profiler = cProfile.Profile()
        profiler.enable()
        try:
            await asyncio.sleep(seconds)
        finally:
            profiler.disable()
            self._running = False
        text = io.StringIO()
        pstats.Stats(profiler, stream=text).sort_stats("tottime").print_stats(60)
        return web.Response(text=text.getvalue())


def _guard(allow: Allow) -> Any:
    @web.middleware
    async def check(request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> web.StreamResponse:
        status = await allow(request.headers.get("Authorization", ""), request.path)
        if status == web.HTTPOk.status_code:
            return await handler(request)
        return web.Response(status=status, text="not authenticated\n" if status == web.HTTPUnauthorized.status_code else "not allowed\n")

    return check
