import pytest

from router.framework.errors import RequestError
from router.framework.parsing import Usage
from router.framework.plugin import NoParameters
from router.payloads.messages import MessagesPayload
from router.payloads.opaque import OpaquePayload
from router.plugins.parsers.anthropic_parser import AnthropicParser
from tests.support.engine import make_handle

BODY = b'{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"x"}]}'


def parser() -> AnthropicParser:
    return AnthropicParser("anthropic-parser", NoParameters(), make_handle())


def test_J43_a_message_is_read() -> None:
    payload = parser().parse(BODY, "/v1/messages", {})

    assert isinstance(payload, MessagesPayload)
    assert (payload.model, payload.max_output_tokens, payload.skip_response) == ("m", 5, False)


@pytest.mark.parametrize("path", ["/v1/messages/count_tokens", "/v1/messages/count_tokens/"])
def test_J44_a_count_passes_unread(path: str) -> None:
    payload = parser().parse(b"anything", path, {})

    assert isinstance(payload, OpaquePayload)
    assert payload.skip_response


def test_a_bad_message_is_refused() -> None:
    with pytest.raises(RequestError, match="must have valid messages field"):
        parser().parse(b"{}", "/v1/messages", {})


def test_usage_of_both_kinds_of_response() -> None:
    payload = parser().parse(BODY, "/v1/messages", {})
    stream, document = parser().usage_reader(payload, streaming=True), parser().usage_reader(payload, streaming=False)

    stream.feed(b'data: {"type":"message_start","message":{"usage":{"input_tokens":3}}}\n\n')
    document.feed(b'{"usage":{"input_tokens":3}}')

    assert stream.usage() == document.usage() == Usage(prompt_tokens=3, total_tokens=3)


def test_claims_and_protocols() -> None:
    assert parser().claims() == ("messages", "messages/count_tokens")
    assert parser().protocols() == {"http", "kubernetes.io/h2c"}
