"""Outgoing HTTP for the data layer: GET over kept connections, made for many small pages a second.

One connection an address, one request at a time on it, no redirects, no compression, no cookies. Reading a page costs little more
than receiving it; a general client costs several times that.
"""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

from router.framework.collecting import Target
from router.framework.endpoint import join_host_port
from router.framework.errors import RouterError
from router.tls import client_context

MAX_PAGE_BYTES = 16 * 1024 * 1024
_HEAD_END = b"\r\n\r\n"


class FetchError(RouterError):
    """A page could not be had; the text says why."""


class _StaleError(FetchError):
    """The connection ended before a byte of the answer."""


@dataclass(frozen=True, slots=True)
class _Head:
    """What the head of a response says about its body."""

    status: int
    length: int | None  # None: until the connection ends, unless chunked
    chunked: bool
    keep: bool  # the connection may carry another request


class Fetcher:
    """Fetches pages; keeps one connection for each target."""

    def __init__(self) -> None:
        self._connections: dict[Target, _Connection] = {}

    async def get(self, target: Target) -> bytes:
        """The body of a 200 answer. Raises FetchError; the caller limits the time."""
        kept = self._connections.get(target)
        if kept is not None and not kept.closed:
            try:
                return await self._ask(target, kept)
            except _StaleError:
                pass  # the server closed an idle connection as the request left; nothing was answered, so ask again
        fresh = self._connections[target] = await _connect(target)
        return await self._ask(target, fresh)

    async def _ask(self, target: Target, connection: "_Connection") -> bytes:
        try:
            return await connection.get()
        except BaseException:
            self.drop(target)
            raise

    def drop(self, target: Target) -> None:
        """Close what is kept for a target that is not fetched any more."""
        connection = self._connections.pop(target, None)
        if connection is not None:
            connection.close()

    def close(self) -> None:
        """Close every connection."""
        for target in list(self._connections):
            self.drop(target)


async def _connect(target: Target) -> "_Connection":
    parts = urlsplit(target.url)
    host = parts.hostname or ""
    context = _context(target) if parts.scheme == "https" else None
    port = parts.port or (443 if context else 80)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    head = f"GET {path} HTTP/1.1\r\nHost: {join_host_port(host, port)}\r\nAccept: text/plain\r\n\r\n"
    loop = asyncio.get_running_loop()
    try:
        _, connection = await loop.create_connection(lambda: _Connection(head.encode("ascii")), host, port, ssl=context)
    except OSError as error:
        raise FetchError(f"cannot connect: {error.strerror or error}") from None
    return connection


def _context(target: Target) -> ssl.SSLContext:
    return client_context(
        verify=target.verify_tls, ca_path=target.ca_path, cert_path=target.client_cert_path, key_path=target.client_key_path
    )


class _Connection(asyncio.Protocol):
    """One kept connection: writes the request, collects the answer."""

    def __init__(self, request: bytes) -> None:
        self.closed = False
        self._request = request
        self._transport: asyncio.WriteTransport | None = None
        self._waiter: asyncio.Future[bytes] | None = None
        self._buffer = bytearray()
        self._head: _Head | None = None
        self._body_start = 0

    async def get(self) -> bytes:
        """Send the request and wait for its answer."""
        if self._transport is None or self._waiter is not None:
            raise FetchError("connection is not free")
        self._waiter = asyncio.get_running_loop().create_future()
        self._transport.write(self._request)
        try:
            return await self._waiter
        finally:
            self._waiter = None

    def close(self) -> None:
        """End the connection at once."""
        self.closed = True
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop."""
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Called by the loop with the next piece of an answer."""
        self._buffer += data
        if len(self._buffer) > MAX_PAGE_BYTES:
            self._fail(FetchError(f"answer is larger than {MAX_PAGE_BYTES} bytes"))
            return
        try:
            self._advance()
        except ValueError as error:
            self._fail(FetchError(f"answer is not HTTP: {error}"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the loop when the connection is gone; ends an answer that has no length."""
        self.closed = True
        head = self._head
        if head is not None and head.length is None and not head.chunked and exc is None:
            self._finish(head, bytes(self._buffer[self._body_start :]))
        elif head is None and not self._buffer:
            self._fail(_StaleError(f"connection lost: {exc}" if exc else "connection closed without an answer"))
        else:
            self._fail(FetchError(f"connection lost: {exc}" if exc else "connection closed before the answer was complete"))

    def _advance(self) -> None:
        if self._head is None:
            end = self._buffer.find(_HEAD_END)
            if end < 0:
                return
            self._head = _parse_head(bytes(self._buffer[:end]))
            self._body_start = end + len(_HEAD_END)
        head = self._head
        if head.chunked:
            body = _unchunk(self._buffer, self._body_start)
            if body is not None:
                self._finish(head, body)
        elif head.length is not None and len(self._buffer) - self._body_start >= head.length:
            self._finish(head, bytes(memoryview(self._buffer)[self._body_start : self._body_start + head.length]))

    def _finish(self, head: _Head, body: bytes) -> None:
        self._buffer = bytearray()
        self._head = None
        if not head.keep:
            self.close()
        if self._waiter is None or self._waiter.done():
            self.close()
        elif head.status == 200:
            self._waiter.set_result(body)
        else:
            self._waiter.set_exception(FetchError(f"status {head.status}"))

    def _fail(self, error: FetchError) -> None:
        self.close()
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(error)


def _parse_head(text: bytes) -> _Head:
    first, *lines = text.decode("latin-1").split("\r\n")
    version, _, rest = first.partition(" ")
    if not version.startswith("HTTP/1."):
        raise ValueError(f"starts with {first[:40]!r}")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    chunked = "chunked" in headers.get("transfer-encoding", "").lower()
    length = None if chunked or "content-length" not in headers else int(headers["content-length"])
    if length is not None and length < 0:
        raise ValueError(f"content-length {length}")
    return _Head(int(rest[:3]), length, chunked, _keeps(version, headers) and (chunked or length is not None))


def _keeps(version: str, headers: Mapping[str, str]) -> bool:
    said = headers.get("connection", "").lower()
    return "close" not in said and (version != "HTTP/1.0" or "keep-alive" in said)


def _unchunk(buffer: bytearray, start: int) -> bytes | None:
    """The body of a chunked answer, or None while it is not complete. Raises ValueError."""
    pieces: list[bytes] = []
    while True:
        line_end = buffer.find(b"\r\n", start)
        if line_end < 0:
            return None
        size = int(bytes(buffer[start:line_end]).split(b";", 1)[0], 16)
        start = line_end + 2
        if size == 0:
            return b"".join(pieces) if buffer.find(b"\r\n", start) >= 0 else None
        if len(buffer) < start + size + 2:
            return None
        pieces.append(bytes(buffer[start : start + size]))
        start += size + 2
