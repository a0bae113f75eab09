"""Carries streams with grpc.aio."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio

from router import wire
from router.engine.extproc.transport.encoding import decode, encode_all
from router.engine.extproc.transport.seam import Ending, OpenStream, Stream, StreamMetrics
from router.framework.plugin import Clock
from router.tls import Certificate

DEFAULT_MAX_RECEIVE_BYTES = 4 * 1024 * 1024  # of one gRPC message, not of a body

RegisterService = Callable[[grpc.aio.Server], None]

_EOF: Any = grpc.aio.EOF  # pyright: ignore[reportAttributeAccessIssue]  -- missing from its type stubs

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """How the server listens."""

    host: str = "[::]"
    port: int = wire.EXT_PROC_PORT  # 0: any free one
    certificate: Certificate | None = None  # None: no TLS
    renew: Callable[[], Certificate] | None = None  # asked at every handshake, so that a certificate can change
    max_receive_bytes: int = DEFAULT_MAX_RECEIVE_BYTES
    max_send_bytes: int = -1  # no limit
    services: Sequence[RegisterService] = ()  # more services for the same port
    stream_metrics: StreamMetrics | None = None


class GrpcAioServer:
    """An ext_proc server."""

    def __init__(self, open_stream: OpenStream, options: ServerOptions, clock: Clock) -> None:
        self._open_stream = open_stream
        self._options = options
        self._clock = clock
        self._server: grpc.aio.Server | None = None

    async def start(self) -> int:
        """Listen; returns the port. Raises OSError when it is taken."""
        options = self._options
        server = grpc.aio.server(
            options=(
                ("grpc.max_receive_message_length", options.max_receive_bytes),
                ("grpc.max_send_message_length", options.max_send_bytes),
                ("grpc.so_reuseport", 0),
            )
        )
        method = grpc.stream_stream_rpc_method_handler(self._serve)
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(wire.EXT_PROC_SERVICE, {"Process": method}),))
        for register in options.services:
            register(server)
        port = _bind(server, options)
        await server.start()
        self._server = server
        return port

    async def stop(self, grace_seconds: float) -> None:
        """Refuse new streams and wait for open ones; those left after the grace are cancelled."""
        if self._server is not None:
            await self._server.stop(grace_seconds)
            self._server = None

    async def _serve(self, _: Any, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        """One stream. Messages arrive as bytes: the handler has no deserialiser."""
        stream, metrics, begin = self._open_stream(), self._options.stream_metrics, self._clock()
        if metrics is not None:
            metrics.stream_opened()
        code, ending = "OK", Ending.PEER_DONE
        try:
            await _pump(stream, context)
        except asyncio.CancelledError:
            code, ending = "Canceled", Ending.CANCELLED
            raise
        except Exception as error:
            code, ending = "Unknown", Ending.FAILED
            log.exception("stream failed")
            await context.abort(grpc.StatusCode.UNKNOWN, str(error))
        finally:
            stream.close(ending)
            if metrics is not None:
                metrics.stream_ended(code, self._clock() - begin)


async def _pump(stream: Stream, context: grpc.aio.ServicerContext[Any, Any]) -> None:
    while (data := await context.read()) is not _EOF:
        message = decode(data)
        if message is None:
            continue
        for encoded in encode_all(await stream.take(message)):
            await context.write(encoded)
        if stream.over:
            return


def _credentials(certificate: Certificate, renew: Callable[[], Certificate] | None) -> grpc.ServerCredentials:
    if renew is None:
        return grpc.ssl_server_credentials([(certificate.key, certificate.chain)])

    def configured(current: Certificate) -> Any:
        return grpc.ssl_server_certificate_configuration([(current.key, current.chain)])

    return grpc.dynamic_ssl_server_credentials(configured(certificate), lambda: configured(renew()))


def _bind(server: grpc.aio.Server, options: ServerOptions) -> int:
    address = f"{options.host}:{options.port}"
    try:
        if options.certificate is None:
            return server.add_insecure_port(address)
        return server.add_secure_port(address, _credentials(options.certificate, options.renew))
    except RuntimeError as error:
        raise OSError(f"cannot listen on {address}: {error}") from None
