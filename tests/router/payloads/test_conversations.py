import pytest

from router.framework.errors import RequestError
from router.payloads.conversations import REFUSAL, parse_conversations


def test_fields_of_a_conversations_body() -> None:
    payload = parse_conversations(b'{"model":"m","items":[{"a":1}]}')

    assert payload.model == "m"
    assert bytes(payload.items) == b'[{"a":1}]'


@pytest.mark.parametrize("body", [b"{}", b'{"items":null}', b'{"items":[]}', b'{"items":"x"}'])
def test_body_without_items_is_refused(body: bytes) -> None:
    with pytest.raises(RequestError) as caught:
        parse_conversations(body)

    assert caught.value.message == REFUSAL
