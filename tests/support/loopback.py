"""A small HTTP server on loopback for tests: paths and what they answer."""

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@contextlib.asynccontextmanager
async def serving(handlers: Mapping[str, Handler], host: str = "127.0.0.1", port: int = 0) -> AsyncGenerator[str]:
    """Serve `handlers` by path, for every method; yields the base URL."""
    application = web.Application(client_max_size=64 * 1024 * 1024)
    for path, handler in handlers.items():
        application.router.add_route("*", path, handler)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield f"http://{host}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def text(content: str, status: int = 200) -> Handler:
    """A handler that always answers the same."""

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(text=content, status=status)

    return answer
