"""Reads protobuf messages field by field, without their definitions.

Only what the few messages of this package need: numbers and length-delimited values; fixed-width ones are passed over.
"""

from collections.abc import Iterator

Value = int | memoryview  # a varint, or the bytes of a length-delimited field

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_FIXED_BYTES = {_FIXED64: 8, _FIXED32: 4}
_MAX_SHIFT = 63  # a varint holds 64 bits
_UINT32 = 0xFFFFFFFF


def fields(message: memoryview) -> Iterator[tuple[int, Value]]:
    """Number and value of each field in order, repeated ones repeated. Raises ValueError for bytes that are no message."""
    position, end = 0, len(message)
    while position < end:
        tag, position = _varint(message, position)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, position = _varint(message, position)
            yield number, value
            continue
        start = position
        if kind == _LENGTH:
            size, start = _varint(message, position)
        elif kind in _FIXED_BYTES:
            size = _FIXED_BYTES[kind]
        else:
            raise ValueError(f"field {number} has the unknown wire type {kind}")
        position = start + size
        if position > end:
            raise ValueError(f"field {number} ends beyond its message")
        if kind == _LENGTH:
            yield number, message[start:position]


def numbers(value: Value) -> list[int]:
    """The 32-bit numbers of a repeated field: packed together, or one of many. Raises ValueError."""
    if isinstance(value, int):
        return [value & _UINT32]
    found: list[int] = []
    number = shift = 0
    for octet in bytes(value):  # twice as fast as going through a view
        if octet < 0x80:
            found.append((number | octet << shift) & _UINT32)
            number = shift = 0
        else:
            number |= (octet & 0x7F) << shift
            shift += 7
            if shift > _MAX_SHIFT:
                raise ValueError("a packed number is too long")
    if shift:
        raise ValueError("packed numbers break off")
    return found


def number(value: Value) -> int:
    """The value of a number field. Raises ValueError when it is none."""
    if isinstance(value, int):
        return value
    raise ValueError("a number field holds bytes")


def content(value: Value) -> memoryview:
    """The bytes of a message or bytes field. Raises ValueError when it is none."""
    if isinstance(value, int):
        raise ValueError("a bytes field holds a number")
    return value


def text(value: Value) -> str:
    """The value of a string field. Raises ValueError when it is none."""
    return str(content(value), "utf-8")


def _varint(message: memoryview, position: int) -> tuple[int, int]:
    """A number and the position after it."""
    found = shift = 0
    while shift <= _MAX_SHIFT:
        if position >= len(message):
            raise ValueError("a number breaks off")
        byte = message[position]
        position += 1
        found |= (byte & 0x7F) << shift
        if byte < 0x80:
            return found, position
        shift += 7
    raise ValueError("a number is too long")
