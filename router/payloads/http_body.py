"""JSON inside the `HttpBody` of a gRPC message, as Vertex AI's prediction service carries it."""

from dataclasses import replace

import msgspec

from router.framework.errors import ErrorCode, RequestError
from router.framework.parsing import Payload, Usage, UsageReader
from router.payloads.chat import parse_chat
from router.payloads.completions import parse_completions
from router.payloads.grpc_frames import FrameSplitter, only_message
from router.payloads.json_body import NOTHING, decode_body, present
from router.payloads.opaque import OpaquePayload
from router.payloads.protobuf import content, fields
from router.payloads.responses import parse_responses
from router.payloads.usage import JsonUsageReader, StreamUsageReader

NO_BODY = "invalid prediction request: must have an http_body"

_HTTP_BODY = 2  # of ChatCompletionsRequest, RawPredictRequest and StreamRawPredictRequest
_DATA = 2  # of HttpBody


class _Members(msgspec.Struct, frozen=True):
    messages: msgspec.Raw = NOTHING
    input: msgspec.Raw = NOTHING
    prompt: msgspec.Raw = NOTHING


_MEMBERS = msgspec.json.Decoder(_Members)


def parse_chat_prediction(body: bytes, *, bare_urls: bool = True) -> Payload:
    """Read a framed request that holds a chat; its model is read, not replaced. Raises RequestError(BadRequest)."""
    return replace(parse_chat(_inner(body), bare_urls=bare_urls), raw=body, rewritable=False)


def parse_raw_prediction(body: bytes, *, bare_urls: bool = True) -> Payload:
    """Read a framed request that may hold anything: its members tell which API it is of. JSON of none is left unread.

    Raises RequestError(BadRequest).
    """
    inner = _inner(body)
    members = decode_body(_MEMBERS, inner, NO_BODY)
    if present(members.messages):
        return parse_chat_prediction(body, bare_urls=bare_urls)
    if present(members.input):
        return replace(parse_responses(inner), raw=body, rewritable=False)
    if present(members.prompt):
        return replace(parse_completions(inner), raw=body, rewritable=False)
    return OpaquePayload(raw=body)


def _inner(body: bytes) -> bytes:
    """The data of the HttpBody in a framed request."""
    message = only_message(body)
    try:
        wrapped = [content(value) for field, value in fields(message) if field == _HTTP_BODY]
        if not wrapped:
            raise RequestError(ErrorCode.BadRequest, NO_BODY)
        return _data(wrapped[-1])
    except ValueError as error:
        raise RequestError(ErrorCode.BadRequest, f"error unmarshaling prediction request: {error}") from None


class HttpBodyUsageReader(UsageReader):
    """Reads answers that are HttpBodies: pieces of one JSON document, or of a stream of events. The first piece tells which."""

    def __init__(self) -> None:
        self._frames = FrameSplitter()
        self._reader: UsageReader | None = None

    def feed(self, chunk: bytes) -> None:
        """Read the messages that the chunk completes. Raises ValueError for bytes that are no message."""
        for message in self._frames.feed(chunk):
            data = _data(message)
            if self._reader is None and data.strip():
                self._reader = JsonUsageReader() if data.lstrip().startswith((b"{", b"[")) else StreamUsageReader()
            if self._reader is not None:
                self._reader.feed(data)
                self.events = self._reader.events

    def usage(self) -> Usage | None:
        """What was reported so far."""
        return self._reader.usage() if self._reader is not None else None


def _data(message: memoryview) -> bytes:
    found = b""
    for field, value in fields(message):
        if field == _DATA:
            found = bytes(content(value))
    return found
