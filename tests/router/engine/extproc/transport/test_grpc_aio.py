import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
import grpc.aio
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from envoy.service.ext_proc.v3 import external_processor_pb2

from router import wire
from router.engine.extproc.transport.grpc_aio import GrpcAioServer, ServerOptions
from router.engine.extproc.transport.messages import BodyChunk, BodyReply, Direction, Message, Reply
from router.engine.extproc.transport.seam import Ending
from router.tls import Certificate
from tests.support.engine import FakeClock

pb: Any = external_processor_pb2
METHOD = f"/{wire.EXT_PROC_SERVICE}/Process"


@dataclass
class EchoStream:
    """Answers body chunks with themselves, in the way their first letter asks for."""

    over: bool = False
    endings: list[Ending] = field(default_factory=list[Ending])
    waiting: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, message: Message) -> Sequence[Reply]:
        assert isinstance(message, BodyChunk)
        match message.data[:1]:
            case b"f":
                raise ZeroDivisionError("broken")
            case b"w":
                self.waiting.set()
                await asyncio.Event().wait()
            case b"o":
                self.over = True
            case _:
                pass
        return [BodyReply(Direction.REQUEST, message.data, message.end_of_stream)]

    def close(self, ending: Ending) -> None:
        self.endings.append(ending)
        self.closed.set()


@dataclass
class Counts:
    opened: int = 0
    ended: list[str] = field(default_factory=list[str])

    def stream_opened(self) -> None:
        self.opened += 1

    def stream_ended(self, code: str, seconds: float) -> None:
        self.ended.append(code)


@asynccontextmanager
async def serving(stream: EchoStream, **options: Any) -> AsyncGenerator[tuple[GrpcAioServer, int]]:
    server = GrpcAioServer(lambda: stream, ServerOptions(host="127.0.0.1", port=0, **options), FakeClock())
    port = await server.start()
    try:
        yield server, port
    finally:
        await server.stop(0)


@asynccontextmanager
async def calling(port: int, channel: Callable[[str], grpc.aio.Channel] = grpc.aio.insecure_channel) -> AsyncGenerator[Any]:
    async with channel(f"127.0.0.1:{port}") as opened:
        yield opened.stream_stream(METHOD)()


def chunk(data: bytes) -> bytes:
    return pb.ProcessingRequest(request_body=pb.HttpBody(body=data)).SerializeToString()


def body_of(reply: Any) -> bytes:
    return pb.ProcessingResponse.FromString(reply).request_body.response.body_mutation.streamed_response.body


async def test_messages_go_in_and_replies_come_out_in_order() -> None:
    stream, counts = EchoStream(), Counts()
    async with serving(stream, stream_metrics=counts) as (_, port), calling(port) as call:
        for data in (b"a", b"b"):
            await call.write(chunk(data))
            assert body_of(await call.read()) == data
        await call.done_writing()
        assert await call.code() is grpc.StatusCode.OK
        await stream.closed.wait()

    assert stream.endings == [Ending.PEER_DONE]
    assert (counts.opened, counts.ended) == (1, ["OK"])


async def test_stream_that_is_over_is_ended_by_the_server() -> None:
    stream = EchoStream()
    async with serving(stream) as (_, port), calling(port) as call:
        await call.write(chunk(b"o"))
        assert body_of(await call.read()) == b"o"
        assert await call.code() is grpc.StatusCode.OK
        await stream.closed.wait()

    assert stream.endings == [Ending.PEER_DONE]


async def test_fault_ends_the_stream_and_not_the_server() -> None:
    stream, counts = EchoStream(), Counts()
    async with serving(stream, stream_metrics=counts) as (_, port):
        async with calling(port) as call:
            await call.write(chunk(b"f"))
            assert await call.code() is grpc.StatusCode.UNKNOWN
        async with calling(port) as call:
            await call.write(chunk(b"a"))
            assert body_of(await call.read()) == b"a"

    assert stream.endings[0] is Ending.FAILED
    assert counts.ended[0] == "Unknown"


async def test_message_that_is_no_protobuf_ends_the_stream_only() -> None:
    stream = EchoStream()
    async with serving(stream) as (_, port), calling(port) as call:
        await call.write(b"\xff\xff\xff")
        assert await call.code() is grpc.StatusCode.UNKNOWN
        await stream.closed.wait()

    assert stream.endings == [Ending.FAILED]


async def test_peer_that_leaves_cancels_what_waits() -> None:
    stream, counts = EchoStream(), Counts()
    async with serving(stream, stream_metrics=counts) as (_, port), calling(port) as call:
        await call.write(chunk(b"w"))
        await stream.waiting.wait()
        call.cancel()
        await stream.closed.wait()

    assert stream.endings == [Ending.CANCELLED]
    assert counts.ended == ["Canceled"]


async def test_stop_cancels_open_streams_after_the_grace() -> None:
    stream = EchoStream()
    async with serving(stream) as (server, port), calling(port) as call:
        await call.write(chunk(b"w"))
        await stream.waiting.wait()
        await server.stop(0)
        await stream.closed.wait()

    assert stream.endings == [Ending.CANCELLED]


async def test_port_that_is_taken_is_an_error() -> None:
    async with serving(EchoStream()) as (_, port):
        second = GrpcAioServer(EchoStream, ServerOptions(host="127.0.0.1", port=port), FakeClock())
        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{port}"):
            await second.start()


async def test_larger_messages_than_allowed_end_the_stream() -> None:
    stream = EchoStream()
    async with serving(stream, max_receive_bytes=1000) as (_, port), calling(port) as call:
        await call.write(chunk(bytes(2000)))
        assert await call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        await stream.closed.wait()


async def test_compressed_messages_are_read() -> None:
    def compressing(address: str) -> grpc.aio.Channel:
        return grpc.aio.insecure_channel(address, compression=grpc.Compression.Gzip)

    async with serving(EchoStream()) as (_, port), calling(port, compressing) as call:
        await call.write(chunk(b"a" * 10_000))
        assert body_of(await call.read()) == b"a" * 10_000


async def test_other_services_share_the_port() -> None:
    seen: list[grpc.aio.Server] = []
    async with serving(EchoStream(), services=(seen.append,)):
        assert len(seen) == 1


async def test_tls() -> None:
    certificate = made_certificate()

    def secure(address: str) -> grpc.aio.Channel:
        return grpc.aio.secure_channel(
            address, grpc.ssl_channel_credentials(certificate.chain), (("grpc.ssl_target_name_override", "localhost"),)
        )

    async with serving(EchoStream(), certificate=certificate) as (_, port), calling(port, secure) as call:
        await call.write(chunk(b"a"))
        assert body_of(await call.read()) == b"a"


def made_certificate() -> Certificate:
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(tz=UTC)
    builder = x509.CertificateBuilder(
        name, name, key.public_key(), x509.random_serial_number(), now - timedelta(hours=1), now + timedelta(hours=1)
    )
    signed = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False).sign(key, hashes.SHA256())
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
    return Certificate(chain=signed.public_bytes(serialization.Encoding.PEM), key=private)
