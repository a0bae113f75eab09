from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.kvcache.canonical_cbor import Value, encode, unsigned_numbers


def decode(content: Iterator[int]) -> Value:
    """A reader for what the writer may write, lengths and kinds alone."""
    first = next(content)
    if first == 0xF6:
        return None
    major, short = first >> 5, first & 31
    number = short if short < 24 else int.from_bytes(bytes(next(content) for _ in range(1 << (short - 24))), "big")
    match major:
        case 0:
            return number
        case 3:
            return bytes(next(content) for _ in range(number)).decode()
        case 4:
            return [decode(content) for _ in range(number)]
        case _:
            return {str(decode(content)): decode(content) for _ in range(number)}


values: st.SearchStrategy[Value] = st.recursive(
    st.none() | st.integers(0, 2**64 - 1) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(values)
def test_what_is_written_reads_back(value: Value) -> None:
    content = iter(encode(value))

    assert decode(content) == value
    assert list(content) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param([0xCBF29CE484222325, None, "test-model"], "831bcbf29ce484222325f66a746573742d6d6f64656c", id="M02"),
        pytest.param([0xF31309635EF2ADD0, list(range(1, 17)), None], "831bf31309635ef2add0900102030405060708090a0b0c0d0e0f10f6", id="M03"),
        pytest.param(
            [0xF31309635EF2ADD0, list(range(1, 17)), [{"Hash": "imghash"}]],
            "831bf31309635ef2add0900102030405060708090a0b0c0d0e0f1081a1644861736867696d6768617368",
            id="M05",
        ),
        pytest.param([23, 24, 255, 256, 65535, 65536, 2**32], "8717181818ff19010019ffff1a000100001b0000000100000000", id="shortest-forms"),
        pytest.param({"b": 1, "a": 2, "aa": 3}, "a361610261620162616103", id="sorted-keys"),
    ],
)
def test_bytes(value: Value, expected: str) -> None:
    assert encode(value).hex() == expected


@given(st.lists(st.integers(0, 2**32 - 1) | st.sampled_from([23, 24, 255, 256, 65535, 65536]), max_size=40))
def test_the_fast_way_for_numbers_writes_the_same(numbers: list[int]) -> None:
    assert unsigned_numbers(numbers) == encode(numbers)


@pytest.mark.parametrize("number", [-1, 2**64])
def test_numbers_beyond_64_bits_are_refused(number: int) -> None:
    with pytest.raises(ValueError, match="64 bits"):
        encode(number)
