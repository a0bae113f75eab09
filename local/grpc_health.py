"""One question of the gRPC health protocol, asked as a kubelet asks it: in plaintext, on a connection of its own.

HTTP/2 by hand, because one request with fixed headers needs neither the gRPC library nor its background threads.
"""

import asyncio
import contextlib
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING, GOAWAY = 0, 1, 4, 6, 7
END_STREAM, END_HEADERS, ACK = 0x1, 0x4, 0x1
STREAM = 1
SERVING = b"\x08\x01"  # HealthCheckResponse{status: SERVING}
PATH = "/grpc.health.v1.Health/Check"


async def serving(host: str, port: int, service: str) -> bool:
    """Whether the server says that `service` is serving. Raises OSError when it does not talk HTTP/2; waits as long as the server does."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(PREFACE + _frame(SETTINGS, 0, 0, b"") + _request(f"{host}:{port}", service))
        await writer.drain()
        return SERVING in await _message(reader, writer)
    except (asyncio.IncompleteReadError, struct.error) as error:
        raise ConnectionResetError("the connection ended before an answer came") from error
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def _request(authority: str, service: str) -> bytes:
    name = service.encode()
    message = b"\x0a" + _length(len(name)) + name if name else b""
    body = b"\0" + struct.pack(">I", len(message)) + message  # not compressed
    headers = {
        ":method": "POST",
        ":scheme": "http",
        ":path": PATH,
        ":authority": authority,
        "content-type": "application/grpc",
        "te": "trailers",
        "user-agent": "kube-probe/mmserve",
    }
    block = b"".join(_literal(key, value) for key, value in headers.items())
    return _frame(HEADERS, END_HEADERS, STREAM, block) + _frame(DATA, END_STREAM, STREAM, body)


async def _message(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """The bytes of the answer's message; empty when the server answers with an error status alone."""
    message = b""
    while True:
        head = await reader.readexactly(9)
        size, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        payload = await reader.readexactly(size)
        if kind in (SETTINGS, PING) and not flags & ACK:
            writer.write(_frame(kind, ACK, 0, payload if kind == PING else b""))
        elif kind == DATA:
            message += payload[5:]  # after the gRPC prefix: compression flag and length
        elif kind == GOAWAY:
            return message
        if kind in (DATA, HEADERS) and flags & END_STREAM:
            return message


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def _literal(name: str, value: str) -> bytes:
    """A header field that is neither indexed nor compressed; both texts are shorter than 127 bytes."""
    return b"\0" + _length(len(name)) + name.encode() + _length(len(value)) + value.encode()


def _length(size: int) -> bytes:
    if size > 126:
        raise ValueError(f"a text of {size} bytes is too long for a health check")
    return bytes((size,))
