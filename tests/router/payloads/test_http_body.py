from collections.abc import Sequence

import pytest

from router.framework.errors import RequestError
from router.framework.parsing import Payload, Usage
from router.payloads.chat import ChatPayload
from router.payloads.completions import CompletionsPayload
from router.payloads.http_body import NO_BODY, HttpBodyUsageReader, parse_chat_prediction, parse_raw_prediction
from router.payloads.opaque import OpaquePayload
from router.payloads.responses import ResponsesPayload
from tests.support.protobuf import field, frame

CHAT = b'{"model":"m","stream":true,"max_tokens":3,"messages":[{"role":"user","content":"x"}]}'


def request(data: bytes) -> bytes:
    return frame(field(1, "projects/p/endpoints/e") + field(2, field(1, "application/json") + field(2, data)))


def answer(data: bytes) -> bytes:
    return frame(field(1, "application/json") + field(2, data))


def test_the_chat_inside_is_read_and_the_body_kept() -> None:
    body = request(CHAT)

    payload = parse_chat_prediction(body)

    assert isinstance(payload, ChatPayload)
    assert (payload.model, payload.stream, payload.max_output_tokens, payload.messages[0].role) == ("m", True, 3, "user")
    assert payload.raw is body
    assert not payload.rewritable
    with pytest.raises(RequestError, match="cannot be set"):
        payload.with_model("n")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (CHAT, ChatPayload),
        (b'{"input":"x"}', ResponsesPayload),
        (b'{"prompt":"x"}', CompletionsPayload),
        (b'{"instances":[{"a":1}]}', OpaquePayload),
    ],
    ids=["chat", "responses", "completions", "other"],
)
def test_members_tell_what_a_raw_prediction_is(data: bytes, kind: type[Payload]) -> None:
    body = request(data)

    payload = parse_raw_prediction(body)

    assert type(payload) is kind
    assert payload.raw is body
    assert not payload.rewritable


def test_bare_image_urls_as_in_a_plain_chat() -> None:
    body = request(b'{"messages":[{"role":"user","content":[{"type":"image_url","image_url":"u"}]}]}')

    assert isinstance(parse_raw_prediction(body), ChatPayload)
    with pytest.raises(RequestError, match="must have valid messages field"):
        parse_raw_prediction(body, bare_urls=False)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (frame(field(1, "e")), NO_BODY),
        (frame(field(2, 5)), "error unmarshaling prediction request"),
        (request(b""), "error unmarshaling request bodyMap"),
        (request(b"[]"), "error unmarshaling request bodyMap"),
        (CHAT, "invalid or unsupported gRPC payload"),
        (frame(b"", flags=1), "invalid or unsupported gRPC payload"),
    ],
    ids=["no-body", "number", "no-data", "list", "no-frame", "compressed"],
)
def test_other_requests_are_refused(body: bytes, message: str) -> None:
    for parse in (parse_chat_prediction, parse_raw_prediction):
        with pytest.raises(RequestError) as caught:
            parse(body)
        assert caught.value.message.startswith(message)


@pytest.mark.parametrize(
    ("pieces", "expected", "events"),
    [
        ((b'{"usage":{"prompt_tokens":1}}',), Usage(prompt_tokens=1), 0),
        ((b' {"usage":', b'{"prompt_tokens":1}}'), Usage(prompt_tokens=1), 0),
        ((b'data: {"usage":{"prompt_tokens":1}}\n\n', b"data: [DONE]\n\n"), Usage(prompt_tokens=1), 1),
        ((b"",), None, 0),
    ],
    ids=["document", "pieces", "events", "empty"],
)
def test_usage_of_answers(pieces: Sequence[bytes], expected: Usage | None, events: int) -> None:
    reader = HttpBodyUsageReader()
    for piece in pieces:
        reader.feed(answer(piece))

    assert (reader.usage(), reader.events) == (expected, events)
