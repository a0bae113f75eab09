import pytest

from router.framework.errors import RequestError
from router.payloads.responses import REFUSAL, parse_responses


def test_fields_of_a_responses_body() -> None:
    payload = parse_responses(
        b'{"model":"m","input":[{"role":"user"}],"instructions":"be","tools":null,"max_output_tokens":9,"stream":true}'
    )

    assert (payload.model, payload.stream, payload.max_output_tokens) == ("m", True, 9)
    assert bytes(payload.input) == b'[{"role":"user"}]'
    assert (bytes(payload.instructions), bytes(payload.tools)) == (b'"be"', b"")


@pytest.mark.parametrize("body", [b"{}", b'{"input":null}'])
def test_body_without_input_is_refused(body: bytes) -> None:
    with pytest.raises(RequestError) as caught:
        parse_responses(body)

    assert caught.value.message == REFUSAL
