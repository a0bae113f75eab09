"""How bodies are cut into messages."""

from collections.abc import Mapping, Sequence
from typing import Any

from router.engine.extproc.transport.messages import MAX_CHUNK_BYTES, BodyReply, Direction


def body_replies(
    direction: Direction, chunks: Sequence[bytes], *, end_of_stream: bool, metadata: Mapping[str, Any] | None = None
) -> list[BodyReply]:
    """Chunks as replies of at most MAX_CHUNK_BYTES, in order; small ones stay the objects they are.

    The last reply carries end of stream and metadata. An empty body that ends is one empty reply, so that its end can be told.
    """
    pieces = [piece for chunk in chunks for piece in _pieces(chunk)]
    if not pieces:
        return [BodyReply(direction, b"", end_of_stream, metadata or {})] if end_of_stream or metadata else []
    last = pieces.pop()
    replies = [BodyReply(direction, piece, end_of_stream=False) for piece in pieces]
    replies.append(BodyReply(direction, last, end_of_stream, metadata or {}))
    return replies


def _pieces(chunk: bytes) -> list[bytes | memoryview]:
    if len(chunk) <= MAX_CHUNK_BYTES:
        return [chunk] if chunk else []
    view = memoryview(chunk)
    return [view[start : start + MAX_CHUNK_BYTES] for start in range(0, len(chunk), MAX_CHUNK_BYTES)]
