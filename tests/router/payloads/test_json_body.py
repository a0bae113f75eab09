import msgspec
import pytest

from router.framework.errors import ErrorCode, RequestError
from router.payloads.chat import parse_chat
from router.payloads.json_body import JsonPayload, decode_body, decode_member, filled_list, is_true, output_cap, present, refuse


class Body(msgspec.Struct):
    model: str | None = None
    count: int = 0


DECODER = msgspec.json.Decoder(Body)


def raw(text: str | None) -> msgspec.Raw:
    return msgspec.Raw() if text is None else msgspec.Raw(text.encode())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"model":', "error unmarshaling request bodyMap: Input data was truncated"),
        (b"[]", "error unmarshaling request bodyMap: Expected `object`, got `array`"),
        (b"null", "error unmarshaling request bodyMap: Expected `object`, got `null`"),
        (b'"x"', "error unmarshaling request bodyMap: Expected `object`, got `str`"),
        (b"", "error unmarshaling request bodyMap: Input data was truncated"),
        (b'{"a":1}{"b":2}', "error unmarshaling request bodyMap: JSON is malformed"),
        (b'\xef\xbb\xbf{"a":1}', "error unmarshaling request bodyMap: JSON is malformed"),
        (b'{"model":"\\ud800"}', "error unmarshaling request bodyMap: "),
        (b'{"model":"\xff"}', "error unmarshaling request bodyMap: "),
        (b'{"x":' + b"[" * 2000, "error unmarshaling request bodyMap: "),  # how deep is too deep differs between Pythons
        (b'{"x":NaN}', "error unmarshaling request bodyMap: JSON is malformed"),
        (b'{"model":5}', "invalid request: model must be a string"),
        (b'{"count":"5"}', "refused"),
    ],
    ids=["cut", "list", "null", "text", "empty", "two", "bom", "surrogate", "utf8", "nested", "nan", "model", "member"],
)
def test_field_P07_body_is_refused(body: bytes, message: str) -> None:
    with pytest.raises(RequestError) as caught:
        decode_body(DECODER, body, "refused")

    assert caught.value.code is ErrorCode.BadRequest
    assert caught.value.message.startswith(message)


def test_member_of_wrong_type_is_refused_with_the_text_of_its_api() -> None:
    with pytest.raises(RequestError, match="refused"):
        decode_member(msgspec.json.Decoder(int), raw('"x"'), "refused")


def test_refusal_is_a_bad_request() -> None:
    assert refuse("why").code is ErrorCode.BadRequest


@pytest.mark.parametrize(
    ("text", "expected"), [("true", True), ("false", False), ("null", False), ('"true"', False), ("1", False), (None, False)]
)
def test_only_the_literal_true_is_true(text: str | None, expected: bool) -> None:
    assert is_true(raw(text)) is expected


@pytest.mark.parametrize(("text", "expected"), [("null", False), (None, False), ("nul", True), ("0", True), ('""', True), ("[]", True)])
def test_null_counts_as_absent(text: str | None, expected: bool) -> None:
    assert present(raw(text)) is expected


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ('"max_completion_tokens":5,"max_tokens":9', 5),
        ('"max_completion_tokens":-1,"max_tokens":9', 9),
        ('"max_tokens":2.5', None),
        ('"max_tokens":0', 0),
        ('"max_tokens":"7"', None),
        ('"max_tokens":7.0', 7),
        ('"max_tokens":1e3', 1000),
        ('"max_tokens":1e400', None),
        (f'"max_tokens":{"9" * 5000}', None),
        ('"max_tokens":null', None),
        ('"max_completion_tokens":{"a":1},"max_tokens":[4]', None),
        ('"max_tokens":123456789012345678901234567890', 123456789012345678901234567890),
    ],
    ids=["J70", "J71", "J72", "J73", "J74", "whole-float", "exponent", "infinite", "endless", "null", "containers", "long"],
)
def test_output_cap(members: str, expected: int | None) -> None:
    body = f'{{"messages":[{{"role":"user","content":"x"}}],{members}}}'.encode()

    assert parse_chat(body).max_output_tokens == expected


def test_output_cap_without_members_is_none() -> None:
    assert output_cap(()) is None


def test_model_is_replaced_in_the_body_as_it_arrived() -> None:
    payload = JsonPayload(model="m", stream=False, max_output_tokens=None, raw=b'{ "model" : "m", "a": 1.0 }')

    assert payload.with_model("other") == b'{ "model" : "other", "a": 1.0 }'


@pytest.mark.parametrize(("text", "kept"), [("[1]", b"[1]"), ("[]", b""), ("[ \n]", b""), ("null", b""), (None, b"")])
def test_empty_lists_are_absent(text: str | None, kept: bytes) -> None:
    assert bytes(filled_list(raw(text))) == kept
