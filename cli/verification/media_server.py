"""Serves one picture on loopback, so that a request can name it by a URL."""

import contextlib
from collections.abc import AsyncGenerator

from aiohttp import web

HOST = "127.0.0.1"


@contextlib.asynccontextmanager
async def serve_picture(content: bytes, media_type: str, name: str) -> AsyncGenerator[str]:
    """Serve `content` at `/name` on any free port; the URL is valid inside the context."""

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(body=content, content_type=media_type)

    application = web.Application()
    application.router.add_get(f"/{name}", answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, HOST, 0)
        await site.start()
        port = runner.addresses[0][1]
        yield f"http://{HOST}:{port}/{name}"
    finally:
        await runner.cleanup()
