"""Writes protobuf messages field by field, and the frames that gRPC puts them in."""

from collections.abc import Iterable


def varint(number: int) -> bytes:
    """A number as protobuf writes it."""
    groups: list[int] = []
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*groups, number])


def field(number: int, value: int | bytes | str) -> bytes:
    """One field: a varint, or anything length-delimited."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def packed(numbers: Iterable[int]) -> bytes:
    """The content of a packed field."""
    return b"".join(map(varint, numbers))


def frame(message: bytes, *, flags: int = 0) -> bytes:
    """A gRPC frame."""
    return bytes([flags]) + len(message).to_bytes(4, "big") + message
