import pytest

from router.framework.errors import RequestError
from router.payloads.embeddings import REFUSAL, parse_embeddings
from router.payloads.prompt import Prompts


def test_fields_of_an_embeddings_body() -> None:
    payload = parse_embeddings(b'{"model":"m","input":[ "a", "b" ],"cache_salt":"s"}')

    assert (payload.model, payload.cache_salt, payload.max_output_tokens) == ("m", "s", None)
    assert payload.input == Prompts(texts=("a", "b"))
    assert bytes(payload.input_json) == b'[ "a", "b" ]'


@pytest.mark.parametrize("body", [b"{}", b'{"input":null}', b'{"input":[1,"a"]}'])
def test_body_without_input_is_refused(body: bytes) -> None:
    with pytest.raises(RequestError) as caught:
        parse_embeddings(body)

    assert caught.value.message == REFUSAL
