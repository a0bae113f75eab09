from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.framework.parsing import Usage
from router.payloads.anthropic_usage import ANTHROPIC_USAGE
from router.payloads.usage import JsonUsageReader, StreamUsageReader

START = (
    b'event: message_start\ndata: {"type":"message_start","message":{"id":"1","usage":'
    b'{"input_tokens":25,"cache_read_input_tokens":10,"output_tokens":1}}}\n\n'
)
TEXT = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"usage"}}\n\n'
DELTA = b'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":15}}\n\n'
STOP = b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
STREAM = START + TEXT + DELTA + STOP


def read(*chunks: bytes) -> Usage | None:
    reader = StreamUsageReader(ANTHROPIC_USAGE)
    for chunk in chunks:
        reader.feed(chunk)
    return reader.usage()


@given(cuts=st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_start_and_end_of_a_stream_are_merged(cuts: Sequence[int]) -> None:
    pieces = [STREAM[start:end] for start, end in pairwise([0, *sorted(cuts), len(STREAM)])]

    assert read(*pieces) == Usage(prompt_tokens=25, completion_tokens=15, total_tokens=40, cached_tokens=10)


def test_start_alone() -> None:
    assert read(START) == Usage(prompt_tokens=25, completion_tokens=1, total_tokens=26, cached_tokens=10)


def test_a_zero_at_the_end_takes_nothing_back() -> None:
    end = DELTA.replace(b'"output_tokens":15', b'"input_tokens":0,"cache_read_input_tokens":null,"output_tokens":15')

    assert read(START, end) == Usage(prompt_tokens=25, completion_tokens=15, total_tokens=40, cached_tokens=10)


def test_input_that_is_known_at_the_end_only() -> None:
    start = b'data: {"type":"message_start","message":{"usage":{"input_tokens":0,"output_tokens":0}}}\n\n'
    end = DELTA.replace(b'"output_tokens":15', b'"input_tokens":9,"output_tokens":15')

    assert read(start, end) == Usage(prompt_tokens=9, completion_tokens=15, total_tokens=24)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (
            b'{"usage":{"input_tokens":3,"output_tokens":4,"cache_read_input_tokens":2}}',
            Usage(prompt_tokens=3, completion_tokens=4, total_tokens=7, cached_tokens=2),
        ),
        (b'{"usage":null}', None),
        (b'{"type":"error"}', None),
        (b"not json", None),
    ],
)
def test_usage_of_a_document(document: bytes, expected: Usage | None) -> None:
    reader = JsonUsageReader(ANTHROPIC_USAGE)
    reader.feed(document)

    assert reader.usage() == expected
