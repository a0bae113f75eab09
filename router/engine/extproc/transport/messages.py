"""Messages of one ext_proc stream as plain values.

`transport` makes the first kind out of what Envoy sends and turns the second into what Envoy expects; `exchange` sees nothing else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

MAX_CHUNK_BYTES = 62_000  # of a body in one message; stays below the 64 KiB at which proxies start a new one

Metadata = Mapping[str, Any]  # namespace -> struct


class Direction(Enum):
    """Which half of the HTTP exchange a message belongs to."""

    REQUEST = "request"
    RESPONSE = "response"


@dataclass(frozen=True, slots=True)
class Headers:
    """Headers as they arrived: lower-case names, in order, repeated names repeated."""

    direction: Direction
    pairs: tuple[tuple[str, str], ...]
    end_of_stream: bool
    metadata: Metadata | None = None  # None: the message carried none


@dataclass(frozen=True, slots=True)
class BodyChunk:
    """A piece of a body."""

    direction: Direction
    data: bytes
    end_of_stream: bool
    metadata: Metadata | None = None


@dataclass(frozen=True, slots=True)
class Trailers:
    """Trailers, which end their direction. Their content is passed on by the proxy itself."""

    direction: Direction
    metadata: Metadata | None = None


Message = Headers | BodyChunk | Trailers


@dataclass(frozen=True, slots=True)
class HeadersReply:
    """Headers to change before they go on."""

    direction: Direction
    set_headers: tuple[tuple[str, str], ...] = ()  # overwrite
    remove_headers: tuple[str, ...] = ()
    clear_route_cache: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])  # dynamic metadata by namespace


@dataclass(frozen=True, slots=True)
class BodyReply:
    """A piece of a body that goes on."""

    direction: Direction
    data: bytes | memoryview
    end_of_stream: bool
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class TrailersReply:
    """Trailers go on unchanged."""

    direction: Direction
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class ImmediateReply:
    """An answer to the client in place of the upstream's; nothing may follow it."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


Reply = HeadersReply | BodyReply | TrailersReply | ImmediateReply
