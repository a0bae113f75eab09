"""Health as `grpc.health.v1` tells it, on the health port in plaintext and on the ext_proc port.

Kubelets ask on the first, the proxy on the second.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2

from router.framework.errors import ConfigError
from router.framework.parsing import Parser
from router.framework.plugin import Plugin
from router.wire import EXT_PROC_SERVICE

SERVICE = "grpc.health.v1.Health"
ASK_PLUGINS = frozenset(("", "readiness", EXT_PROC_SERVICE))
_SERVING = int(health_pb2.HealthCheckResponse.SERVING)
_NOT_SERVING = int(health_pb2.HealthCheckResponse.NOT_SERVING)


@dataclass(slots=True, kw_only=True)
class Health:
    """Whether the engine may be used, asked anew every time."""

    pool_known: Callable[[], bool]
    app_protocol: Callable[[], str]
    parsers: Sequence[Parser]
    plugins: Iterable[Plugin]
    draining: bool = False

    def serving(self, service: str) -> bool:
        """Any name is answered; names that stand for readiness also ask the plugins."""
        if self.draining or not self.pool_known() or not self._speaks(self.app_protocol()):
            return False
        return service not in ASK_PLUGINS or all(plugin.ready() for plugin in self.plugins)

    def _speaks(self, protocol: str) -> bool:
        return not protocol or all(protocol in parser.protocols() for parser in self.parsers)


def register(health: Health) -> Callable[[grpc.aio.Server], None]:
    """What adds the health service to a server."""

    async def check(request: Any, _: Any) -> Any:
        return health_pb2.HealthCheckResponse(status=_SERVING if health.serving(request.service) else _NOT_SERVING)

    async def listing(_: bytes, __: Any) -> bytes:
        return _list_response({EXT_PROC_SERVICE: _SERVING if health.serving(EXT_PROC_SERVICE) else _NOT_SERVING})

    async def watch(_: Any, context: Any) -> Any:
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "Watch is not served; ask again")

    handlers = {
        "Check": grpc.unary_unary_rpc_method_handler(
            check,
            request_deserializer=health_pb2.HealthCheckRequest.FromString,
            response_serializer=health_pb2.HealthCheckResponse.SerializeToString,
        ),
        "List": grpc.unary_unary_rpc_method_handler(listing),
        "Watch": grpc.unary_unary_rpc_method_handler(watch),
    }
    return lambda server: server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))


class HealthServer:
    """The health service on a port of its own, plaintext: kubelets cannot use TLS."""

    def __init__(self, health: Health, host: str, port: int) -> None:
        self._health = health
        self._address = f"{host}:{port}"
        self._server: grpc.aio.Server | None = None

    async def start(self) -> int:
        """Serve; returns the port. Raises ConfigError when it is taken."""
        server = grpc.aio.server(options=(("grpc.so_reuseport", 0),))
        register(self._health)(server)
        try:
            port = server.add_insecure_port(self._address)
        except RuntimeError:
            raise ConfigError(
                f"cannot listen on {self._address}: the port is in use or the address is not ours", source="health port"
            ) from None
        await server.start()
        self._server = server
        return port

    async def stop(self, grace_seconds: float | None) -> None:
        """Stop answering, once running calls ended or the time is over."""
        if self._server is not None:
            await self._server.stop(grace_seconds)


def _list_response(statuses: Mapping[str, int]) -> bytes:
    """`HealthListResponse`: the library in use knows no such message, and a map of small numbers is easily written.

    Field 1, a map entry {1: name, 2: {1: status}}; every length fits one byte.
    """
    entries: list[bytes] = []
    for name, status in statuses.items():
        text = name.encode()
        inner = bytes((0x0A, len(text))) + text + bytes((0x12, 2, 0x08, status))
        entries.append(bytes((0x0A, len(inner))) + inner)
    return b"".join(entries)
