"""Joins the parts of a server, and runs it inside a process or a test."""

import asyncio
import ssl
from collections.abc import Sequence
from contextlib import AsyncExitStack
from random import Random
from types import TracebackType

import aiohttp
from aiohttp import web

from simulator.api.control import Control
from simulator.api.generate import Generator
from simulator.api.routes import Api
from simulator.clock import Clock, RealClock
from simulator.engine.loop import Engine
from simulator.faults import Faults
from simulator.fetching import HttpFetcher
from simulator.journal import Journal
from simulator.metrics.counters import Counters
from simulator.metrics.page import Page
from simulator.options import Options, parse

KEEP_ALIVE_SECONDS = 75.0
DRAIN_LOOK_SECONDS = 0.02
HEAD_BYTES = 4 * 2**20  # vLLM's `--h11-max-incomplete-event-size`
HEAD_FIELDS = 256  # vLLM's `--h11-max-header-count`
SHUTDOWN_SECONDS = 0.05  # running requests are cut off, as by vLLM; 0 would mean no limit to aiohttp


class Server:
    """One simulated model server, from its options to an open port."""

    def __init__(self, options: Options, clock: Clock | None = None) -> None:
        self.options = options
        self.clock = clock or RealClock()
        self.journal = Journal()
        self.faults = Faults(options.faults, Random(options.seed))  # noqa: S311 - which request a fault hits
        self.counters = Counters(options.max_model_len)
        self.engine = Engine(options, self.clock, self.counters, self.faults.slowdown)
        self.url = ""
        self._exit = AsyncExitStack()
        self._api: Api | None = None
        self._generator: Generator | None = None

    async def open(self) -> None:
        """Start the engine and listen. Raises OSError when the port is taken."""
        tasks = await self._exit.enter_async_context(asyncio.TaskGroup())
        loop = tasks.create_task(self.engine.run())
        self._exit.callback(loop.cancel)
        session = await self._exit.enter_async_context(aiohttp.ClientSession())
        self._generator = Generator(self.options, self.engine, self.clock, HttpFetcher(session))
        page = Page(self.counters, self.options, self.clock.wall())
        self._api = Api(self.options, self._generator, page, self.faults, self.journal)
        control = Control(self.engine, self.faults, self.journal, self.reset, self.configure)
        if self.options.startup_delay:
            await self.clock.sleep(self.options.startup_delay)
        runner = web.AppRunner(
            self._api.application(control),
            access_log=None,
            handler_cancellation=True,
            keepalive_timeout=KEEP_ALIVE_SECONDS,
            shutdown_timeout=SHUTDOWN_SECONDS,
            max_line_size=HEAD_BYTES,
            max_field_size=HEAD_BYTES,
            max_headers=HEAD_FIELDS,
        )
        await runner.setup()
        self._exit.push_async_callback(runner.cleanup)
        site = web.TCPSite(runner, self.options.host, self.options.port, ssl_context=self._tls())
        await site.start()
        host, port = runner.addresses[0][:2]
        self.url = f"{'https' if self.options.ssl_certfile else 'http'}://{host}:{port}"

    async def close(self) -> None:
        """Refuse new requests, let running ones go on for the shutdown timeout, end the rest, close the port."""
        if self._api is not None:
            self._api.draining = True
        end = self.clock.now() + self.options.shutdown_timeout
        while not self.engine.scheduler.idle and self.clock.now() < end:
            await self.clock.sleep(DRAIN_LOOK_SECONDS)
        await self._exit.aclose()

    def configure(self, options: Options) -> None:
        """Go on with other simulation settings, from the next step and the next request on."""
        self.options = self.engine.options = options
        if self._generator is not None:
            self._generator.options = options
        if self._api is not None:
            self._api.options = options

    def reset(self) -> None:
        """Forget caches, journal and faults; counters go on, as in a real server."""
        self.engine.pool.forget()
        self.engine.encoder_cache.clear()
        if self._generator is not None:
            self._generator.processor_cache.clear()
        self.journal.clear()
        self.faults.remove()

    def _tls(self) -> ssl.SSLContext | None:
        if not self.options.ssl_certfile:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.options.ssl_certfile, self.options.ssl_keyfile or None)
        return context


class SimServer:
    """A server for tests: `async with SimServer(["m", "--sim-profile", "fast"]) as server: server.url`."""

    def __init__(self, args: Sequence[str], clock: Clock | None = None) -> None:
        self._server = Server(parse([*args, "--host", "127.0.0.1", "--port", "0"], {}), clock)

    async def __aenter__(self) -> Server:
        await self._server.open()
        return self._server

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._server.close()
