from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.framework.parsing import Usage
from router.payloads.vllm_engine_usage import EmbedUsageReader, GenerateUsageReader
from tests.support.protobuf import field, frame, packed


def chunk(prompt: int, completion: int, cached: int) -> bytes:
    counts = ((2, prompt), (3, completion), (4, cached))
    return frame(field(1, field(1, packed([5])) + b"".join(field(key, value) for key, value in counts if value)))


def complete(prompt: int, completion: int, cached: int) -> bytes:
    return frame(field(2, field(1, packed([5, 6])) + field(2, "stop") + field(3, prompt) + field(4, completion) + field(5, cached)))


STREAM = chunk(11, 1, 4) + chunk(0, 0, 0) + chunk(11, 2, 0) + complete(11, 3, 4)


@given(cuts=st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_the_last_answer_decides_however_the_stream_is_cut(cuts: Sequence[int]) -> None:
    reader = GenerateUsageReader()
    for start, end in pairwise([0, *sorted(cuts), len(STREAM)]):
        reader.feed(STREAM[start:end])

    assert reader.usage() == Usage(prompt_tokens=11, completion_tokens=3, total_tokens=14, cached_tokens=4)


def test_what_an_earlier_answer_said_stays() -> None:
    reader = GenerateUsageReader()

    reader.feed(chunk(11, 1, 4) + chunk(0, 2, 0))

    assert reader.usage() == Usage(prompt_tokens=11, completion_tokens=2, total_tokens=13, cached_tokens=4)


def test_answers_without_counts() -> None:
    reader = GenerateUsageReader()

    reader.feed(chunk(0, 0, 0))

    assert reader.usage() is None


def test_an_embed_answer() -> None:
    reader = EmbedUsageReader()

    reader.feed(frame(field(1, bytes(40)) + field(2, 9) + field(3, 10)))

    assert reader.usage() == Usage(prompt_tokens=9, total_tokens=9)


@pytest.mark.parametrize("reader", [GenerateUsageReader(), EmbedUsageReader()])
def test_bytes_that_are_no_message_are_told(reader: GenerateUsageReader | EmbedUsageReader) -> None:
    with pytest.raises(ValueError, match="breaks off"):
        reader.feed(frame(b"\x08"))
