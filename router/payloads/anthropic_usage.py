"""Token counts of the Messages API, where the input is reported at the start of a stream and the output at its end."""

from dataclasses import replace

import msgspec

from router.framework.parsing import Usage
from router.payloads.usage import Count, UsageFormat, first_count


class _Usage(msgspec.Struct, frozen=True):
    input_tokens: Count = None
    output_tokens: Count = None
    cache_read_input_tokens: Count = None


class _Document(msgspec.Struct, frozen=True):
    usage: _Usage | None = None


class _Event(msgspec.Struct, frozen=True):
    message: _Document | None = None  # of message_start
    usage: _Usage | None = None  # of message_delta


_DOCUMENT = msgspec.json.Decoder(_Document)
_EVENT = msgspec.json.Decoder(_Event)


def _document(content: bytes) -> Usage | None:
    return _usage(_DOCUMENT.decode(content).usage)


def _event(content: bytes) -> Usage | None:
    event = _EVENT.decode(content)
    return _usage(event.usage or (event.message.usage if event.message else None))


def _usage(report: _Usage | None) -> Usage | None:
    if report is None:
        return None
    return _totalled(
        Usage(
            prompt_tokens=first_count(report.input_tokens),
            completion_tokens=first_count(report.output_tokens),
            cached_tokens=first_count(report.cache_read_input_tokens),
        )
    )


def _merge(earlier: Usage, later: Usage) -> Usage:
    """A later zero takes nothing back: servers that know the input first, or last, write 0 in the other event."""
    known = Usage(
        prompt_tokens=later.prompt_tokens or None,
        completion_tokens=later.completion_tokens or None,
        cached_tokens=later.cached_tokens or None,
    )
    return _totalled(Usage().merged(later).merged(earlier).merged(known))


def _totalled(usage: Usage) -> Usage:
    return replace(usage, total_tokens=(usage.prompt_tokens or 0) + (usage.completion_tokens or 0))


ANTHROPIC_USAGE = UsageFormat(b"usage", _document, _event, _merge)
