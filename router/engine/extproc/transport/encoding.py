"""Plain values to and from the protobuf messages of ext_proc v3."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from envoy.service.ext_proc.v3 import external_processor_pb2
from google.protobuf.json_format import MessageToDict

from router.engine.extproc.transport.messages import (
    MAX_CHUNK_BYTES,
    BodyChunk,
    BodyReply,
    Direction,
    Headers,
    HeadersReply,
    ImmediateReply,
    Message,
    Metadata,
    Reply,
    Trailers,
    TrailersReply,
)

_pb: Any = external_processor_pb2  # generated without type information

_DIRECTIONS = {
    "request_headers": Direction.REQUEST,
    "request_body": Direction.REQUEST,
    "request_trailers": Direction.REQUEST,
    "response_headers": Direction.RESPONSE,
    "response_body": Direction.RESPONSE,
    "response_trailers": Direction.RESPONSE,
}

# Tags of the length-delimited fields that a streamed body is wrapped in, outermost first, for each direction:
# ProcessingResponse.request_body (3) or .response_body (4), BodyResponse.response (1), CommonResponse.body_mutation (3),
# BodyMutation.streamed_response (3), StreamedBodyResponse.body (1).
_BODY_TAG = {Direction.REQUEST: b"\x1a", Direction.RESPONSE: b"\x22"}
_INNER_TAGS = (b"\x0a", b"\x1a", b"\x1a")
_DATA_TAG = b"\x0a"
_END_OF_STREAM = b"\x10\x01"  # StreamedBodyResponse.end_of_stream (2) = true


def decode(data: bytes) -> Message | None:
    """The message that Envoy sent; None for a kind this engine does not know. Raises protobuf's DecodeError."""
    envelope = _pb.ProcessingRequest.FromString(data)
    kind: str | None = envelope.WhichOneof("request")
    if kind is None:
        return None
    direction = _DIRECTIONS[kind]
    metadata = _metadata(envelope) if envelope.HasField("metadata_context") else None
    content = getattr(envelope, kind)
    if kind.endswith("_body"):
        return BodyChunk(direction, content.body, content.end_of_stream, metadata)
    if kind.endswith("_headers"):
        return Headers(direction, _pairs(content), content.end_of_stream, metadata)
    return Trailers(direction, metadata)


def encode_all(replies: Sequence[Reply]) -> Iterator[bytes]:
    """The messages that Envoy gets.

    Small pieces of a body that follow each other travel in one: a message costs more than its bytes.
    """
    pending: list[BodyReply] = []
    size = 0
    for reply in replies:
        piece = reply if isinstance(reply, BodyReply) and not reply.metadata else None
        if pending and (piece is None or size + len(piece.data) > MAX_CHUNK_BYTES):
            yield _streamed_body(pending)
            pending, size = [], 0
        if piece is None:
            yield encode(reply)
        else:
            pending.append(piece)
            size += len(piece.data)
    if pending:
        yield _streamed_body(pending)


def encode(reply: Reply) -> bytes:
    """One message that Envoy gets."""
    if isinstance(reply, BodyReply) and not reply.metadata:
        return _streamed_body([reply])
    envelope = _envelope(reply)
    if not isinstance(reply, ImmediateReply) and reply.metadata:
        envelope.dynamic_metadata.update(_plain(reply.metadata))
    return envelope.SerializeToString()


def _metadata(envelope: Any) -> Metadata:
    return {name: MessageToDict(struct) for name, struct in envelope.metadata_context.filter_metadata.items()}


def _pairs(content: Any) -> tuple[tuple[str, str], ...]:
    headers = content.headers.headers
    return tuple((header.key.lower(), header.raw_value.decode("utf-8", "replace") or header.value) for header in headers)


def _streamed_body(replies: Sequence[BodyReply]) -> bytes:
    """The same bytes that protobuf would write for the joined pieces, with one copy of them and none of its five objects."""
    pieces = [reply.data for reply in replies]
    size = sum(map(len, pieces))
    prefix, end = _DATA_TAG + _varint(size) if size else b"", _END_OF_STREAM if replies[-1].end_of_stream else b""
    length = len(prefix) + size + len(end)
    for tag in reversed((_BODY_TAG[replies[0].direction], *_INNER_TAGS)):
        header = tag + _varint(length)
        prefix = header + prefix
        length += len(header)
    return b"".join((prefix, *pieces, end))


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def _envelope(reply: Reply) -> Any:
    envelope = _pb.ProcessingResponse()
    match reply:
        case HeadersReply():
            content = envelope.request_headers if reply.direction is Direction.REQUEST else envelope.response_headers
            content.response.clear_route_cache = reply.clear_route_cache
            _mutate(content.response.header_mutation, reply.set_headers, reply.remove_headers)
        case BodyReply():
            content = envelope.request_body if reply.direction is Direction.REQUEST else envelope.response_body
            streamed = content.response.body_mutation.streamed_response
            streamed.body, streamed.end_of_stream = bytes(reply.data), reply.end_of_stream
        case TrailersReply():
            content = envelope.request_trailers if reply.direction is Direction.REQUEST else envelope.response_trailers
            content.SetInParent()
        case ImmediateReply():
            envelope.immediate_response.status.code = reply.status
            envelope.immediate_response.body = reply.body
            _mutate(envelope.immediate_response.headers, reply.headers, ())
    return envelope


def _mutate(mutation: Any, set_headers: tuple[tuple[str, str], ...], remove_headers: tuple[str, ...]) -> None:
    for name, value in set_headers:
        header = mutation.set_headers.add().header
        header.key, header.raw_value = name, value.encode()
    mutation.remove_headers.extend(remove_headers)


def _plain(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings as dictionaries, which is all that a protobuf struct takes."""
    return {name: _plain(value) if isinstance(value, Mapping) else value for name, value in metadata.items()}
