"""Envoy, an engine of this process and a fake model server, with a client in front."""

import asyncio
import io
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp

from router.engine.control.stages import StagePlugins
from router.engine.extproc.transport.grpc_aio import GrpcAioServer, ServerOptions
from router.framework.control import HeaderProcessor
from router.framework.request import InferenceRequest
from tests.support.envoy import EnvoyPorts
from tests.support.exchange import Choices, Rig, endpoint_metadata, make_rig
from tests.support.upstream import Upstream, running_upstream

SETTLE_ATTEMPTS = 500


class Waiting(HeaderProcessor):
    """Holds requests with an `x-wait` header as long as it is not interrupted."""

    def __init__(self) -> None:
        super().__init__("waiting")
        self.entered = asyncio.Event()
        self.left = asyncio.Event()

    async def process_headers(self, request: InferenceRequest) -> None:
        if "x-wait" not in request.headers:
            return
        self.entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.left.set()


@dataclass
class Scenario:
    """What a test talks to."""

    ports: EnvoyPorts
    rig: Rig
    upstream: Upstream
    client: aiohttp.ClientSession
    waiting: Waiting

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.ports.proxy}{path}"

    async def post(self, body: bytes, *, path: str = "/v1/chat/completions", behaviour: str = "json") -> tuple[int, bytes]:
        async with self.client.post(self.url(path), data=io.BytesIO(body), headers={"x-behaviour": behaviour}) as response:
            return response.status, await response.read()

    def reset(self) -> None:
        """Forget what earlier tests did."""
        self.upstream.reset()
        self.rig.scheduler.seen.clear()
        self.rig.scheduler.failure = None
        self.rig.books.steps.clear()
        self.rig.books.failure = None

    async def settled(self) -> None:
        """Wait until every request placed has ended in the books; fails when one never does."""
        for _ in range(SETTLE_ATTEMPTS):
            if not self.rig.books.open and self.rig.value("llm_d_epp_request_running") == 0:
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"books stay open: {self.rig.books.open}")

    async def assert_balanced(self) -> None:
        """Books are zero, every placed request ended exactly once, and the next request works."""
        self.upstream.release.set()
        await self.settled()
        ends = len(self.rig.books.causes)
        assert (await self.post(b'{"model":"m","prompt":"x"}', path="/v1/completions"))[0] == 200
        await self.settled()
        assert len(self.rig.books.causes) == ends + 1


@asynccontextmanager
async def running_scenario(ports: EnvoyPorts) -> AsyncGenerator[Scenario]:
    """An engine that Envoy at `ports` finds, and one model server as its pool."""
    async with running_upstream() as upstream, aiohttp.ClientSession() as client:
        waiting = Waiting()
        choices = Choices(plugins=StagePlugins(header_processors=(waiting,)))
        rig = make_rig(endpoint_metadata(port=upstream.port), choices=choices)
        server = GrpcAioServer(rig.exchange, ServerOptions(host="127.0.0.1", port=ports.engine), time.monotonic)
        await server.start()
        try:
            yield Scenario(ports, rig, upstream, client, waiting)
        finally:
            await server.stop(0)
