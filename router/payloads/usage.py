"""Token counts that responses report, in one JSON document or in a stream of server-sent events.

How they are spelled is a format; the one here is that of the OpenAI-style APIs.
"""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from router.framework.parsing import Usage, UsageReader

MAX_DOCUMENT_BYTES = 64 * 1024 * 1024  # of a response that is one JSON document; a longer one is not read
MAX_LINE_BYTES = 4 * 1024 * 1024  # of one event; a longer line is skipped

_FIELD = b"data:"
_DONE = b"[DONE]"

Count = int | float | str | None


@dataclass(frozen=True, slots=True)
class UsageFormat:
    """How an API reports token counts. Readers raise msgspec.DecodeError, UnicodeDecodeError or RecursionError for broken JSON."""

    mark: bytes  # an event without it is not decoded
    document: Callable[[bytes], Usage | None]
    event: Callable[[bytes], Usage | None]
    merge: Callable[[Usage, Usage], Usage] = Usage.merged  # what an earlier and a later event report together


class _Details(msgspec.Struct, frozen=True):
    cached_tokens: Count = None


class _Usage(msgspec.Struct, frozen=True):
    prompt_tokens: Count = None
    input_tokens: Count = None
    completion_tokens: Count = None
    output_tokens: Count = None
    total_tokens: Count = None
    prompt_tokens_details: _Details | None = None
    input_tokens_details: _Details | None = None


class _Document(msgspec.Struct, frozen=True):
    usage: _Usage | None = None


class _Event(msgspec.Struct, frozen=True):
    type: msgspec.Raw = msgspec.Raw()
    usage: _Usage | None = None
    response: _Document | None = None


_DOCUMENT = msgspec.json.Decoder(_Document)
_EVENT = msgspec.json.Decoder(_Event)


def _document(content: bytes) -> Usage | None:
    return _usage(_DOCUMENT.decode(content).usage)


def _event(content: bytes) -> Usage | None:
    event = _EVENT.decode(content)
    return _usage(event.usage or _completed(event))


OPENAI_USAGE = UsageFormat(b"usage", _document, _event)


class JsonUsageReader(UsageReader):
    """Reads a response that is one JSON document. Keeps references to its chunks until it is asked."""

    def __init__(self, usage_format: UsageFormat = OPENAI_USAGE) -> None:
        self._format = usage_format
        self._chunks: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> None:
        """Remember the chunk; a document beyond the limit is given up."""
        self._size += len(chunk)
        if self._size > MAX_DOCUMENT_BYTES:
            self._chunks.clear()
        else:
            self._chunks.append(chunk)

    def usage(self) -> Usage | None:
        """The document's usage; None while it is incomplete, or when it has none."""
        return _tried(self._format.document, b"".join(self._chunks))


class StreamUsageReader(UsageReader):
    """Reads server-sent events; what several events report is merged field by field."""

    def __init__(self, usage_format: UsageFormat = OPENAI_USAGE) -> None:
        self._format = usage_format
        self.events = 0
        self._tail: list[bytes] = []  # a line without its end so far
        self._tail_bytes = 0
        self._usage: Usage | None = None

    def feed(self, chunk: bytes) -> None:
        """Take the next piece; a line cut in two is read once its end arrives."""
        end = chunk.rfind(b"\n")
        if end < 0:
            self._keep(chunk)
            return
        complete = chunk[:end] if not self._tail else b"".join((*self._tail, chunk[:end]))
        self._tail.clear()
        self._tail_bytes = 0
        self._keep(chunk[end + 1 :])
        for line in complete.split(b"\n"):
            self._line(line)

    def usage(self) -> Usage | None:
        """What was reported so far, by a last line without line end too."""
        return self._with(_content(b"".join(self._tail))) if self._tail else self._usage

    def _keep(self, rest: bytes) -> None:
        if rest and self._tail_bytes <= MAX_LINE_BYTES:
            self._tail.append(rest)
            self._tail_bytes += len(rest)

    def _line(self, line: bytes) -> None:
        content = _content(line)
        if content is not None:
            self.events += 1
            self._usage = self._with(content)

    def _with(self, content: bytes | None) -> Usage | None:
        """What was reported so far and by this event."""
        if content is None or self._format.mark not in content:
            return self._usage
        later = _tried(self._format.event, content)
        return self._format.merge(self._usage, later) if self._usage and later else later or self._usage


def _content(line: bytes) -> bytes | None:
    """What an event's line carries; None for other lines and for the end mark."""
    if not line.startswith(_FIELD):
        return None
    content = line[len(_FIELD) :].strip()
    return None if content == _DONE else content


def _tried(read: Callable[[bytes], Usage | None], content: bytes) -> Usage | None:
    try:
        return read(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _completed(event: _Event) -> _Usage | None:
    completed = event.response is not None and bytes(event.type) == b'"response.completed"'
    return event.response.usage if completed and event.response is not None else None


def _usage(report: _Usage | None) -> Usage | None:
    if report is None:
        return None
    details = report.prompt_tokens_details or report.input_tokens_details or _Details()
    return Usage(
        prompt_tokens=first_count(report.prompt_tokens, report.input_tokens),
        completion_tokens=first_count(report.completion_tokens, report.output_tokens),
        total_tokens=first_count(report.total_tokens),
        cached_tokens=first_count(details.cached_tokens),
    )


def first_count(*counts: Count) -> int | None:
    """The first count that is a number or numeric text."""
    return next((number for count in counts if (number := _number(count)) is not None), None)


def _number(count: Count) -> int | None:
    try:
        return None if count is None else int(float(count))
    except (ValueError, OverflowError):
        return None
