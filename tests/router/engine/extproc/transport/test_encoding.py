from typing import Any

import pytest
from envoy.service.ext_proc.v3 import external_processor_pb2
from hypothesis import given
from hypothesis import strategies as st

from router.engine.extproc.transport.encoding import decode, encode, encode_all
from router.engine.extproc.transport.messages import (
    MAX_CHUNK_BYTES,
    BodyChunk,
    BodyReply,
    Direction,
    Headers,
    HeadersReply,
    ImmediateReply,
    Trailers,
    TrailersReply,
)

pb: Any = external_processor_pb2
REQUEST, RESPONSE = Direction.REQUEST, Direction.RESPONSE
BOTH = st.sampled_from([REQUEST, RESPONSE])


def received(**fields: Any) -> Any:
    return decode(pb.ProcessingRequest(**fields).SerializeToString())


def sent(reply: Any) -> Any:
    return pb.ProcessingResponse.FromString(encode(reply))


@pytest.mark.parametrize("kind", ["request", "response"])
def test_headers_are_lower_case_and_raw_values_win(kind: str) -> None:
    message = pb.HttpHeaders(end_of_stream=True)
    for key, value, raw_value in (
        (":path", "", b"/x"),
        ("X-A", "text", b""),
        ("x-b", "text", b"raw"),
        ("x-c", "", "é\xff".encode("latin-1")),
    ):
        header = message.headers.headers.add()
        header.key, header.value, header.raw_value = key, value, raw_value

    headers = received(**{f"{kind}_headers": message})

    pairs = ((":path", "/x"), ("x-a", "text"), ("x-b", "raw"), ("x-c", "\ufffd\ufffd"))
    assert headers == Headers(Direction(kind), pairs, end_of_stream=True)


@pytest.mark.parametrize("kind", ["request", "response"])
def test_body_and_trailers_are_read(kind: str) -> None:
    body = received(**{f"{kind}_body": pb.HttpBody(body=b"abc", end_of_stream=True)})
    trailers = received(**{f"{kind}_trailers": pb.HttpTrailers()})

    assert body == BodyChunk(Direction(kind), b"abc", end_of_stream=True)
    assert trailers == Trailers(Direction(kind))


def test_metadata_are_plain_values() -> None:
    envelope = pb.ProcessingRequest(request_body=pb.HttpBody(body=b"x"))
    envelope.metadata_context.filter_metadata["envoy.lb.subset_hint"].update({"hosts": ["10.0.0.1:80", 7]})

    message = decode(envelope.SerializeToString())

    assert message is not None
    assert message.metadata == {"envoy.lb.subset_hint": {"hosts": ["10.0.0.1:80", 7.0]}}


def test_unknown_message_is_skipped() -> None:
    assert decode(b"") is None


@given(
    direction=BOTH,
    data=st.binary(max_size=300) | st.sampled_from([127, 128, 16_383, 16_384, 62_000]).map(bytes),
    end=st.booleans(),
    view=st.booleans(),
)
def test_body_reply_is_what_protobuf_would_write(direction: Direction, data: bytes, end: bool, view: bool) -> None:
    streamed = pb.StreamedBodyResponse(body=data, end_of_stream=end)
    answer = pb.BodyResponse(response=pb.CommonResponse(body_mutation=pb.BodyMutation(streamed_response=streamed)))
    expected = pb.ProcessingResponse(**{f"{direction.value}_body": answer})

    encoded = encode(BodyReply(direction, memoryview(data) if view else data, end))

    assert encoded == expected.SerializeToString(deterministic=True)


def test_body_reply_with_metadata() -> None:
    envelope = sent(BodyReply(RESPONSE, b"x", end_of_stream=True, metadata={"a": {"b": [1, {"c": True}]}}))

    assert envelope.response_body.response.body_mutation.streamed_response.body == b"x"
    assert envelope.dynamic_metadata["a"]["b"][1]["c"] is True


def test_headers_reply() -> None:
    metadata = {"envoy.lb": {"x": "h:1"}}
    envelope = sent(HeadersReply(REQUEST, (("a", "é"),), ("b",), clear_route_cache=True, metadata=metadata))

    common = envelope.request_headers.response
    assert common.clear_route_cache
    (option,) = common.header_mutation.set_headers
    assert (option.header.key, option.header.raw_value, option.header.value) == ("a", "é".encode(), "")
    assert list(common.header_mutation.remove_headers) == ["b"]
    assert envelope.dynamic_metadata["envoy.lb"]["x"] == "h:1"


def test_response_headers_reply() -> None:
    assert sent(HeadersReply(RESPONSE)).WhichOneof("response") == "response_headers"


@pytest.mark.parametrize("direction", [REQUEST, RESPONSE])
def test_trailers_reply(direction: Direction) -> None:
    assert sent(TrailersReply(direction)).WhichOneof("response") == f"{direction.value}_trailers"


def test_immediate_reply() -> None:
    answer = sent(ImmediateReply(429, (("content-type", "application/json"),), b"{}")).immediate_response

    assert (answer.status.code, answer.body) == (429, b"{}")
    assert answer.headers.set_headers[0].header.raw_value == b"application/json"


def test_small_pieces_travel_in_one_message() -> None:
    sizes = [30_000, 30_000, 2_000, 1, 62_000, 61_999, 2]
    pieces = [bytes([number]) * size for number, size in enumerate(sizes)]
    replies = [BodyReply(REQUEST, piece, number == len(pieces)) for number, piece in enumerate(pieces, 1)]

    envelopes = [pb.ProcessingResponse.FromString(data) for data in encode_all([HeadersReply(REQUEST), *replies, TrailersReply(REQUEST)])]

    kinds = [envelope.WhichOneof("response") for envelope in envelopes]
    bodies = [envelope.request_body.response.body_mutation.streamed_response for envelope in envelopes[1:-1]]
    assert kinds == ["request_headers", *["request_body"] * 5, "request_trailers"]
    assert [len(body.body) for body in bodies] == [62_000, 1, 62_000, 61_999, 2]
    assert [body.end_of_stream for body in bodies] == [False, False, False, False, True]
    assert b"".join(body.body for body in bodies) == b"".join(pieces)


def test_piece_with_metadata_travels_alone() -> None:
    replies = [BodyReply(RESPONSE, b"a", end_of_stream=False), BodyReply(RESPONSE, b"b", end_of_stream=True, metadata={"n": {"x": 1.0}})]

    first, second = (pb.ProcessingResponse.FromString(data) for data in encode_all(replies))

    assert first.response_body.response.body_mutation.streamed_response.body == b"a"
    assert second.dynamic_metadata["n"]["x"] == 1.0


def test_nothing_is_no_message() -> None:
    assert list(encode_all(())) == []
    assert MAX_CHUNK_BYTES < 65_536
