"""Replaces the model name inside a JSON object and leaves every other byte alone."""

from collections.abc import Iterator

import msgspec

MODEL_KEY = "model"
_BLANKS = b" \t\r\n"


def splice_model(body: bytes, model: str) -> bytes:
    """`body` (a valid JSON object) with `model` as the value of its top-level model member.

    A repeated member is replaced everywhere, since readers differ in which one they take; a missing one is put first.
    """
    encoded = msgspec.json.encode(model)
    pieces: list[bytes | memoryview] = []
    view, position = memoryview(body), 0
    for start, end in model_spans(body):
        pieces += (view[position:start], encoded)
        position = end
    if not pieces:
        return _prepend(body, encoded)
    pieces.append(view[position:])
    return b"".join(pieces)


def model_spans(body: bytes) -> Iterator[tuple[int, int]]:
    """Start and end of each value of a top-level model member, in order."""
    depth, position = 0, 0
    while (quote := body.find(b'"', position)) >= 0:
        depth += _nesting(body, position, quote)
        end = _string_end(body, quote)
        if depth == 1 and _is_key(body, end) and _names_model(body[quote:end]):
            start = _skip_blanks(body, _skip_blanks(body, end) + 1)
            position = _value_end(body, start)
            yield start, position
        else:
            position = end


def _prepend(body: bytes, encoded: bytes) -> bytes:
    brace = body.index(b"{") + 1
    comma = b"" if body[_skip_blanks(body, brace)] == ord("}") else b","
    return b"".join((body[:brace], b'"model":', encoded, comma, body[brace:]))


def _nesting(body: bytes, start: int, end: int) -> int:
    opened = body.count(b"{", start, end) + body.count(b"[", start, end)
    return opened - body.count(b"}", start, end) - body.count(b"]", start, end)


def _string_end(body: bytes, quote: int) -> int:
    """Index after the closing quote of the string that opens at `quote`."""
    end = body.index(b'"', quote + 1)
    while _escaped(body, end):
        end = body.index(b'"', end + 1)
    return end + 1


def _escaped(body: bytes, index: int) -> bool:
    first = index
    while body[first - 1] == ord("\\"):
        first -= 1
    return (index - first) % 2 == 1


def _is_key(body: bytes, end: int) -> bool:
    return body[_skip_blanks(body, end) : _skip_blanks(body, end) + 1] == b":"


def _names_model(literal: bytes) -> bool:
    if b"\\" not in literal:
        return literal == b'"model"'
    return msgspec.json.decode(literal) == MODEL_KEY


def _skip_blanks(body: bytes, index: int) -> int:
    while index < len(body) and body[index] in _BLANKS:
        index += 1
    return index


def _value_end(body: bytes, start: int) -> int:
    """End of a scalar value; a model is a string or null, everything else was refused by the parser."""
    if body[start] == ord('"'):
        return _string_end(body, start)
    end = start
    while body[end] not in b",}" and body[end] not in _BLANKS:
        end += 1
    return end
