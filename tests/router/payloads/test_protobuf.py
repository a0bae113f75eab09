from typing import Any

import pytest
from google.protobuf import descriptor_pb2, wrappers_pb2
from hypothesis import given
from hypothesis import strategies as st

from router.payloads.protobuf import content, fields, number, numbers, text
from tests.support.protobuf import field, packed, varint

DESCRIPTORS: Any = descriptor_pb2  # made when it is imported, so a type checker sees nothing in it
WRAPPERS: Any = wrappers_pb2


def read(message: bytes) -> list[tuple[int, int | bytes]]:
    return [(key, value if isinstance(value, int) else bytes(value)) for key, value in fields(memoryview(message))]


@given(value=st.integers(1, 2**64 - 1))
def test_numbers_as_another_implementation_writes_them(value: int) -> None:
    assert read(WRAPPERS.UInt64Value(value=value).SerializeToString()) == [(1, value)]


@given(value=st.text(min_size=1))
def test_texts_as_another_implementation_writes_them(value: str) -> None:
    (found,) = (each for _, each in fields(memoryview(WRAPPERS.StringValue(value=value).SerializeToString())))

    assert text(found) == value


@given(path=st.lists(st.integers(0, 2**31 - 1), min_size=1))
def test_packed_numbers_as_another_implementation_writes_them(path: list[int]) -> None:
    location = memoryview(DESCRIPTORS.SourceCodeInfo.Location(path=path).SerializeToString())

    assert [each for _, value in fields(location) for each in numbers(value)] == path


def test_numbers_that_are_not_packed() -> None:
    message = DESCRIPTORS.FileDescriptorProto(public_dependency=[3, 300, 70000]).SerializeToString()

    assert [each for _, value in fields(memoryview(message)) for each in numbers(value)] == [3, 300, 70000]


def test_fixed_width_values_are_passed_over() -> None:
    message = WRAPPERS.DoubleValue(value=1.5).SerializeToString() + WRAPPERS.FloatValue(value=1.5).SerializeToString() + field(9, 1)

    assert read(message) == [(9, 1)]


@pytest.mark.parametrize(
    "message",
    [b"\x08", b"\x0a\x05ab", b"\x09\x00", b"\x0b", b"\xff" * 11, b"\x80", b"\x0a" + b"\xff" * 9 + b"\x01"],
    ids=["no-value", "cut-bytes", "cut-fixed", "group", "long", "cut-tag", "huge"],
)
def test_bytes_that_are_no_message(message: bytes) -> None:
    with pytest.raises(ValueError, match=r"breaks off|beyond its message|wire type|too long"):
        read(message)


@given(message=st.binary(max_size=64))
def test_any_bytes_are_read_or_refused(message: bytes) -> None:
    try:
        read(message)
    except ValueError:
        return


@pytest.mark.parametrize("value", [b"\x80", b"\xff" * 11], ids=["cut", "long"])
def test_broken_packed_numbers(value: bytes) -> None:
    with pytest.raises(ValueError, match=r"break off|too long"):
        numbers(memoryview(value))


def test_numbers_have_32_bits() -> None:
    assert numbers(memoryview(packed([2**32 + 5]))) == [5]
    assert numbers(2**32 + 7) == [7]


def test_kinds_of_values_are_checked() -> None:
    with pytest.raises(ValueError, match="holds bytes"):
        number(memoryview(b""))
    with pytest.raises(ValueError, match="holds a number"):
        content(5)
    assert varint(300) == b"\xac\x02"
