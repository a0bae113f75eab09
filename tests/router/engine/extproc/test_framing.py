import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.engine.extproc.framing import body_replies
from router.engine.extproc.transport.messages import MAX_CHUNK_BYTES, Direction


@pytest.mark.parametrize(
    ("size", "end", "sizes"),
    [
        (0, True, [0]),
        (61_000, True, [61_000]),
        (62_000, True, [62_000]),
        (62_001, True, [62_000, 1]),
        (63_000, True, [62_000, 1_000]),
        (125_000, True, [62_000, 62_000, 1_000]),
        (5, False, [5]),
    ],
    ids=["J01", "J02", "J03", "J04", "J05", "J06", "J07"],
)
def test_body_is_cut(size: int, end: bool, sizes: list[int]) -> None:
    replies = body_replies(Direction.REQUEST, [bytes(size)], end_of_stream=end)

    assert [len(reply.data) for reply in replies] == sizes
    assert [reply.end_of_stream for reply in replies] == [False] * (len(sizes) - 1) + [end]


def test_nothing_is_no_reply_before_the_end() -> None:
    assert body_replies(Direction.RESPONSE, [b""], end_of_stream=False) == []


def test_metadata_of_an_empty_chunk_are_sent() -> None:
    (reply,) = body_replies(Direction.RESPONSE, [b""], end_of_stream=False, metadata={"a": {}})

    assert reply.metadata == {"a": {}}


def test_metadata_are_on_the_last_reply_only() -> None:
    replies = body_replies(Direction.RESPONSE, [bytes(70_000)], end_of_stream=True, metadata={"a": {"b": 1}})

    assert [dict(reply.metadata) for reply in replies] == [{}, {"a": {"b": 1}}]


def test_small_chunks_stay_the_same_objects() -> None:
    chunks = [bytes(10), bytes(MAX_CHUNK_BYTES)]

    replies = body_replies(Direction.REQUEST, chunks, end_of_stream=True)

    assert all(reply.data is chunk for reply, chunk in zip(replies, chunks, strict=True))


@given(chunks=st.lists(st.binary(max_size=200) | st.integers(0, 200_000).map(bytes), max_size=5))
def test_joined_replies_are_the_body(chunks: list[bytes]) -> None:
    replies = body_replies(Direction.REQUEST, chunks, end_of_stream=True)

    assert b"".join(reply.data for reply in replies) == b"".join(chunks)
    assert all(len(reply.data) <= MAX_CHUNK_BYTES for reply in replies)
    assert [reply.end_of_stream for reply in replies][-1]
