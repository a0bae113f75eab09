from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.framework.errors import ErrorCode, RequestError
from router.payloads.grpc_frames import MAX_MESSAGE_BYTES, FrameSplitter, only_message
from tests.support.protobuf import frame


@pytest.mark.parametrize("message", [b"", b"abc"])
def test_message_of_one_frame(message: bytes) -> None:
    assert bytes(only_message(frame(message))) == message


@pytest.mark.parametrize(
    "body",
    [b"", b"\x00\x00\x00\x00", frame(b"abc")[:-1], frame(b"abc") + b"x", frame(b"a") + frame(b"b"), frame(b"abc", flags=1), b"{}"],
    ids=["empty", "cut-head", "cut", "longer", "two", "compressed", "json"],
)
def test_other_bodies_are_refused(body: bytes) -> None:
    with pytest.raises(RequestError) as caught:
        only_message(body)

    assert (caught.value.code, caught.value.message) == (ErrorCode.BadRequest, "invalid or unsupported gRPC payload")


BODY = frame(b"first") + frame(b"") + frame(b"squeezed", flags=1) + frame(b"x" * 300)


@given(cuts=st.lists(st.integers(0, len(BODY)), max_size=8))
def test_pieces_may_end_anywhere(cuts: Sequence[int]) -> None:
    splitter = FrameSplitter()

    messages = [bytes(each) for start, end in pairwise([0, *sorted(cuts), len(BODY)]) for each in splitter.feed(BODY[start:end])]

    assert messages == [b"first", b"", b"x" * 300]


def test_a_very_long_message_is_not_kept() -> None:
    splitter = FrameSplitter()

    messages = splitter.feed(frame(b"a") + b"\x00" + (4 * MAX_MESSAGE_BYTES).to_bytes(4, "big") + bytes(10))

    assert [bytes(each) for each in messages] == [b"a"]
    assert splitter.feed(bytes(2 * MAX_MESSAGE_BYTES)) == []


def test_what_follows_a_very_long_message_is_read() -> None:
    splitter = FrameSplitter()
    splitter.feed(b"\x00" + (MAX_MESSAGE_BYTES + 1).to_bytes(4, "big"))

    messages = splitter.feed(bytes(MAX_MESSAGE_BYTES)) + splitter.feed(b"\x00" + frame(b"after"))

    assert [bytes(each) for each in messages] == [b"after"]
