import pytest

from router.framework.errors import RequestError
from router.payloads.image_generation import REFUSAL, parse_image_generation


def test_fields_of_an_image_generation() -> None:
    payload = parse_image_generation(b'{"model":"m","prompt":"a cat"}')

    assert (payload.model, payload.prompt, payload.stream) == ("m", "a cat", False)


@pytest.mark.parametrize("body", [b"{}", b'{"prompt":""}', b'{"prompt":["a"]}'])
def test_body_without_prompt_is_refused(body: bytes) -> None:
    with pytest.raises(RequestError) as caught:
        parse_image_generation(body)

    assert caught.value.message == REFUSAL
