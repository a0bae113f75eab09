import pytest

from router.framework.errors import RequestError
from router.payloads.completions import REFUSAL, parse_completions
from router.payloads.prompt import Prompts


def test_fields_of_a_completions_body() -> None:
    payload = parse_completions(b'{"model":"m","prompt":["a","b"],"max_tokens":4,"stream":false,"cache_salt":"s"}')

    assert (payload.model, payload.stream, payload.max_output_tokens, payload.cache_salt) == ("m", False, 4, "s")
    assert payload.prompts == Prompts(texts=("a", "b"))


@pytest.mark.parametrize("body", [b"{}", b'{"prompt":""}', b'{"prompt":{}}', b'{"messages":[{"role":"user","content":"x"}]}'])
def test_body_without_prompt_is_refused(body: bytes) -> None:
    with pytest.raises(RequestError) as caught:
        parse_completions(body)

    assert caught.value.message == REFUSAL
