from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.framework.parsing import Usage, UsageReader
from router.payloads.usage import MAX_DOCUMENT_BYTES, MAX_LINE_BYTES, JsonUsageReader, StreamUsageReader

FIRST = b'data: {"usage":{"prompt_tokens":11,"prompt_tokens_details":{"cached_tokens":4}}}\n\n'
LAST = b'data: {"choices":[{"delta":{"content":"\xc3\xa9"}}],"usage":{"completion_tokens":5,"total_tokens":16}}\r\n\r\ndata: [DONE]\n\n'
MERGED = Usage(prompt_tokens=11, completion_tokens=5, total_tokens=16, cached_tokens=4)


def read(reader: UsageReader, *chunks: bytes) -> Usage | None:
    for chunk in chunks:
        reader.feed(chunk)
    return reader.usage()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            b'{"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}',
            Usage(prompt_tokens=1, completion_tokens=2, total_tokens=3),
        ),
        (b'{"usage":{"input_tokens":1,"output_tokens":2}}', Usage(prompt_tokens=1, completion_tokens=2)),
        (b'{"usage":{"input_tokens_details":{"cached_tokens":0}}}', Usage(cached_tokens=0)),
        (b'{"usage":{"prompt_tokens":"12","completion_tokens":3.0}}', Usage(prompt_tokens=12, completion_tokens=3)),
        (b'{"usage":{"prompt_tokens":"many"}}', Usage()),
        (b'{"usage":{"prompt_tokens":[1]}}', None),
        (b'{"usage":null}', None),
        (b"{}", None),
        (b'{"usage":', None),
        (b"", None),
        (b"not json", None),
    ],
)
def test_usage_of_a_document(body: bytes, expected: Usage | None) -> None:
    assert read(JsonUsageReader(), body[:5], body[5:]) == expected


def test_document_beyond_the_limit_is_given_up() -> None:
    reader = JsonUsageReader()
    chunk = bytes(MAX_DOCUMENT_BYTES // 4 + 1)

    assert read(reader, chunk, chunk, chunk, chunk) is None


@given(cuts=st.lists(st.integers(0, len(FIRST + LAST)), max_size=8))
def test_field_P46_usage_is_merged_across_events_and_chunk_borders(cuts: Sequence[int]) -> None:
    whole, borders = FIRST + LAST, [0, *sorted(cuts), len(FIRST + LAST)]
    reader = StreamUsageReader()

    usage = read(reader, *(whole[start:end] for start, end in pairwise(borders)))

    assert usage == MERGED
    assert reader.events == 2


def test_asking_in_between_changes_nothing() -> None:
    reader = StreamUsageReader()
    middle = len(FIRST) + 30

    early = read(reader, (FIRST + LAST)[:middle])
    final = read(reader, (FIRST + LAST)[middle:])

    assert early == Usage(prompt_tokens=11, cached_tokens=4)
    assert (final, reader.events) == (MERGED, 2)


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b'data: {"usage":{"prompt_tokens":1}}', Usage(prompt_tokens=1)),  # no line end
        (b'data:{"usage":{"prompt_tokens":1}}\n', Usage(prompt_tokens=1)),  # no blank
        (b'event: x\ndata: {"type":"response.completed","response":{"usage":{"input_tokens":2}}}\n\n', Usage(prompt_tokens=2)),
        (b'data: {"type":"response.created","response":{"usage":{"input_tokens":2}}}\n\n', None),
        (b'data: {"usage":null,"x":"usage"}\n\n', None),
        (b'data: {"usage":\n\ndata: {"usage":{"prompt_tokens":1}}\n\n', Usage(prompt_tokens=1)),
        (b': {"usage":{"prompt_tokens":1}}\n\n', None),
        (b"data: [DONE]\r\n", None),
    ],
)
def test_usage_of_a_stream(stream: bytes, expected: Usage | None) -> None:
    assert read(StreamUsageReader(), stream) == expected


def test_endless_line_is_not_kept() -> None:
    reader = StreamUsageReader()
    for _ in range(10):
        reader.feed(bytes(MAX_LINE_BYTES // 2))

    assert read(reader, b'\ndata: {"usage":{"prompt_tokens":1}}\n') == Usage(prompt_tokens=1)
