"""Canonical CBOR (RFC 8949 §4.2.1) of the few kinds of values that block keys are made of: one value, one spelling."""

from collections.abc import Iterable, Mapping, Sequence

NULL = b"\xf6"

Value = int | str | None | Sequence["Value"] | Mapping[str, "Value"]

_UNSIGNED, _TEXT, _ARRAY, _MAP = 0, 3, 4, 5


def encode(value: Value) -> bytes:
    """The bytes of a value. Raises ValueError for a negative number or one beyond 64 bits."""
    if value is None:
        return NULL
    if isinstance(value, int):
        return _head(_UNSIGNED, value)
    if isinstance(value, str):
        text = value.encode()
        return _head(_TEXT, len(text)) + text
    if isinstance(value, Mapping):
        pairs = sorted((encode(key), encode(item)) for key, item in value.items())
        return _head(_MAP, len(pairs)) + b"".join(key + item for key, item in pairs)
    return array_of(len(value), map(encode, value))


def array_of(length: int, encoded: Iterable[bytes]) -> bytes:
    """An array of `length` items that are encoded already."""
    return _head(_ARRAY, length) + b"".join(encoded)


def unsigned_numbers(numbers: Sequence[int]) -> bytes:
    """An array of numbers from 0 to 2^32 - 1: what `encode` gives, faster."""
    return _head(_ARRAY, len(numbers)) + b"".join(
        [
            b"\x19%c%c" % (n >> 8, n & 0xFF)
            if 0xFF < n < 0x10000
            else b"\x1a" + n.to_bytes(4, "big")
            if n > 0xFFFF
            else b"\x18%c" % n
            if n > 23
            else b"%c" % n
            for n in numbers
        ]
    )


def _head(major: int, number: int) -> bytes:
    """Kind and number in the shortest form."""
    if number < 0 or number >> 64:
        raise ValueError(f"{number} is not an unsigned number of 64 bits")
    first = major << 5
    if number < 24:
        return bytes((first | number,))
    for code, size in ((24, 1), (25, 2), (26, 4)):
        if number >> (8 * size) == 0:
            return bytes((first | code,)) + number.to_bytes(size, "big")
    return bytes((first | 27,)) + number.to_bytes(8, "big")
