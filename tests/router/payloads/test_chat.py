import pytest

from router.framework.errors import RequestError
from router.payloads.chat import REFUSAL, Message, parse_chat
from router.payloads.content import MediaPart, TextPart

EMPTY = memoryview(b"")


def chat(members: str) -> bytes:
    return f'{{"model":"m",{members}}}'.encode()


def test_fields_of_a_chat() -> None:
    payload = parse_chat(
        chat(
            '"stream":true,"cache_salt":"s","tools":[{"type":"function"}],"temperature":0.5,"messages":['
            '{"role":"system","content":"be brief"},'
            '{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"u"}}]},'
            '{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]},'
            '{"role":"tool","content":""}]'
        )
    )

    assert (payload.model, payload.stream, payload.cache_salt) == ("m", True, "s")
    assert bytes(payload.tools) == b'[{"type":"function"}]'
    assert payload.messages == (
        Message("system", (TextPart("be brief"),), EMPTY),
        Message("user", (TextPart("see"), MediaPart("image", memoryview(b"u"))), EMPTY),
        Message("assistant", (), memoryview(b'[{"id":"1"}]')),
        Message("tool", (), EMPTY),
    )


@pytest.mark.parametrize("tools", ["[]", "[ \n]", "null"])
def test_empty_tools_are_absent(tools: str) -> None:
    assert not parse_chat(chat(f'"tools":{tools},"messages":[{{"role":"user","content":"x"}}]')).tools


def test_body_without_model_is_read() -> None:
    assert parse_chat(b'{"messages":[{"role":"user","content":"x"}]}').model == ""


@pytest.mark.parametrize(
    "members",
    [
        '"messages":[]',
        '"messages":null',
        '"prompt":"x"',
        '"messages":{"role":"user"}',
        '"messages":[5]',
        '"messages":[{"role":"user","content":5}]',
        '"messages":[{"role":"user","content":{"type":"text"}}]',
        '"messages":[{"role":"user","content":["x"]}]',
        '"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":5}}]}]',
    ],
)
def test_invalid_messages_are_refused(members: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse_chat(chat(members))

    assert caught.value.message == REFUSAL


BARE = chat('"messages":[{"role":"user","content":[{"type":"image_url","image_url":"http://a"}]}]')


def test_bare_url_is_accepted() -> None:
    assert parse_chat(BARE).messages[0].content == (MediaPart("image", memoryview(b"http://a")),)


def test_reference_refuses_a_bare_url() -> None:
    with pytest.raises(RequestError, match="must have valid messages field"):
        parse_chat(BARE, bare_urls=False)


def test_raw_body_is_the_same_object() -> None:
    assert parse_chat(BARE).raw is BARE
