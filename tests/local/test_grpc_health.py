import asyncio
import contextlib
from collections.abc import AsyncGenerator

import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1._async import HealthServicer

from local.grpc_health import serving

HOST = "127.0.0.1"


@contextlib.asynccontextmanager
async def health_server(**statuses: int) -> AsyncGenerator[int]:
    """The reference implementation of the protocol; yields its port."""
    server = grpc.aio.server()
    servicer = HealthServicer()
    for service, status in statuses.items():
        await servicer.set(service.replace("_", "-"), status)
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    port = server.add_insecure_port(f"{HOST}:0")
    await server.start()
    try:
        yield port
    finally:
        await server.stop(None)


STATUS = health_pb2.HealthCheckResponse


async def test_a_serving_service_is_healthy() -> None:
    async with health_server(inference_extension=STATUS.SERVING) as port:
        assert await serving(HOST, port, "inference-extension")


async def test_the_server_as_a_whole_has_an_empty_name() -> None:
    async with health_server() as port:
        assert await serving(HOST, port, "")


async def test_a_service_that_does_not_serve_is_not() -> None:
    async with health_server(inference_extension=STATUS.NOT_SERVING) as port:
        assert not await serving(HOST, port, "inference-extension")


async def test_an_unknown_service_is_not() -> None:
    async with health_server() as port:
        assert not await serving(HOST, port, "nobody")


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"], ids=["closes", "speaks-http1"])
async def test_a_server_of_another_protocol_is_an_os_error(answer: bytes) -> None:
    async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(other, HOST, 0) as server:
        with pytest.raises(OSError, match=r"ended before|reset"):
            await serving(HOST, server.sockets[0].getsockname()[1], "x")


async def test_a_closed_port_is_an_os_error() -> None:
    async with await asyncio.start_server(lambda _r, _w: None, HOST, 0) as server:
        port = server.sockets[0].getsockname()[1]

    with pytest.raises(ConnectionRefusedError):
        await serving(HOST, port, "x")


async def test_a_name_too_long_for_the_wire_is_refused() -> None:
    async with health_server() as port:
        with pytest.raises(ValueError, match="too long"):
            await serving(HOST, port, "x" * 200)
