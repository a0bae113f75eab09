from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio
import pytest
from grpc_health.v1 import health_pb2

from router.engine.health import SERVICE, Health, HealthServer
from router.framework.errors import ConfigError
from router.framework.parsing import Parser
from router.framework.plugin import NoParameters, Plugin
from router.plugins.parsers.openai_parser import OpenaiParser
from router.wire import EXT_PROC_SERVICE
from tests.support.engine import make_handle

SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING


class Warming(Plugin):
    """A plugin that is not ready yet."""

    def ready(self) -> bool:
        return False


def health(*, known: bool = True, protocol: str = "", draining: bool = False, plugins: tuple[Plugin, ...] = ()) -> Health:
    parsers: tuple[Parser, ...] = (OpenaiParser("openai-parser", NoParameters(), make_handle()),)
    return Health(pool_known=lambda: known, app_protocol=lambda: protocol, parsers=parsers, plugins=plugins, draining=draining)


@pytest.mark.parametrize("service", ["", "readiness", EXT_PROC_SERVICE, "inference-extension", "liveness", "anything"])
@pytest.mark.parametrize(
    ("state", "serving"),
    [
        pytest.param({}, True, id="well"),
        pytest.param({"known": False}, False, id="pool-unknown"),
        pytest.param({"draining": True}, False, id="draining"),
        pytest.param({"protocol": "http"}, True, id="http"),
        pytest.param({"protocol": "kubernetes.io/h2c"}, True, id="h2c"),
        pytest.param({"protocol": "grpc"}, False, id="protocol-that-no-parser-speaks"),
    ],
)
def test_any_name_is_serving_while_the_pool_is_known_and_nothing_drains(service: str, state: dict[str, Any], serving: bool) -> None:
    assert health(**state).serving(service) is serving


@pytest.mark.parametrize(
    ("service", "serving"), [("", False), ("readiness", False), (EXT_PROC_SERVICE, False), ("inference-extension", True)]
)
def test_only_names_of_readiness_ask_the_plugins(service: str, serving: bool) -> None:
    assert health(plugins=(Warming("w"),)).serving(service) is serving


@asynccontextmanager
async def channel_to(state: Health) -> AsyncGenerator[grpc.aio.Channel]:
    server = HealthServer(state, "127.0.0.1", 0)
    port = await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel
    finally:
        await server.stop(None)


def method(channel: grpc.aio.Channel, name: str) -> Any:
    return channel.unary_unary(f"/{SERVICE}/{name}")


async def test_check_answers_over_the_wire() -> None:
    state = health()
    async with channel_to(state) as channel:
        request = health_pb2.HealthCheckRequest(service="inference-extension").SerializeToString()
        first = health_pb2.HealthCheckResponse.FromString(await method(channel, "Check")(request))
        state.draining = True
        second = health_pb2.HealthCheckResponse.FromString(await method(channel, "Check")(request))

        assert (first.status, second.status) == (SERVING, NOT_SERVING)


async def test_list_names_the_ext_proc_service() -> None:
    async with channel_to(health()) as channel:
        answer = await method(channel, "List")(b"")

        name = EXT_PROC_SERVICE.encode()
        entry = bytes((0x0A, len(name))) + name + bytes((0x12, 2, 0x08, 1))
        assert answer == bytes((0x0A, len(entry))) + entry


async def test_watch_is_not_served() -> None:
    async with channel_to(health()) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await method(channel, "Watch")(b"")

        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_a_taken_port_is_a_configuration_error() -> None:
    first = HealthServer(health(), "127.0.0.1", 0)
    port = await first.start()

    with pytest.raises(ConfigError, match=f"health port: cannot listen on 127.0.0.1:{port}"):
        await HealthServer(health(), "127.0.0.1", port).start()
    await first.stop(None)
