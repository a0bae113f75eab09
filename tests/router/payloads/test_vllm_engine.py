import pytest

from router.framework.attributes.tokenized_prompt import MultimodalFeature
from router.framework.errors import ErrorCode, RequestError
from router.payloads.prompt import Prompts
from router.payloads.vllm_engine import parse_embed, parse_generate
from tests.support.protobuf import field, frame, packed

IDS = field(2, field(1, "hello") + field(2, packed([7, 300, 2**32 - 1])))


def media(*items: tuple[str, int, int]) -> bytes:
    places = b"".join(field(5, field(1, offset) + field(2, length)) for _, offset, length in items)
    return field(7, places + b"".join(field(6, digest) for digest, _, _ in items))


def test_fields_of_a_generate_request() -> None:
    body = frame(field(1, "id") + IDS + field(4, field(1, 5) + field(8, 12)) + field(5, 1) + media(("bb", 1, 2), ("aa", 0, 1)))

    payload = parse_generate(body)

    assert payload.prompts == Prompts(token_ids=(7, 300, 2**32 - 1))
    assert (payload.stream, payload.max_output_tokens, payload.embeds) == (True, 12, False)
    assert payload.features == (
        MultimodalFeature(modality="image", hash="aa", offset=0, length=1),
        MultimodalFeature(modality="image", hash="bb", offset=1, length=2),
    )
    assert payload.raw is body
    assert (payload.model, payload.rewritable) == ("", False)


def test_what_is_left_out_has_the_meaning_of_the_format() -> None:
    payload = parse_generate(frame(IDS))

    assert (payload.stream, payload.max_output_tokens, payload.features) == (False, None, ())


def test_a_cap_of_zero_is_a_cap() -> None:
    assert parse_generate(frame(IDS + field(4, field(8, 0)))).max_output_tokens == 0


def test_text_in_place_of_tokens() -> None:
    assert parse_generate(frame(field(3, "héllo"))).prompts == Prompts(texts=("héllo",))


def test_of_text_and_tokens_the_later_counts() -> None:
    assert parse_generate(frame(IDS + field(3, "x"))).prompts == Prompts(texts=("x",))
    assert parse_generate(frame(field(3, "x") + IDS)).prompts.texts == ()


def test_an_embed_request() -> None:
    payload = parse_embed(frame(field(1, "id") + IDS))

    assert payload.prompts.token_ids == (7, 300, 2**32 - 1)
    assert (payload.embeds, payload.stream, payload.max_output_tokens) == (True, False, None)


@pytest.mark.parametrize("message", [b"", field(1, "id"), field(2, b""), field(3, "")], ids=["empty", "id", "no-tokens", "no-text"])
def test_requests_without_input_are_refused(message: bytes) -> None:
    with pytest.raises(RequestError, match="must have tokenized input or text"):
        parse_generate(frame(message))
    with pytest.raises(RequestError, match="must have tokenized input"):
        parse_embed(frame(message))


@pytest.mark.parametrize(
    "message",
    [b"\x0a\x05x", field(2, 5), field(3, b"\xff"), IDS + field(4, 5), IDS + field(7, 5), IDS + field(5, b"x")],
    ids=["cut", "number", "utf8", "sampling", "media", "stream"],
)
def test_messages_of_another_shape_are_refused(message: bytes) -> None:
    with pytest.raises(RequestError, match="error unmarshaling GenerateRequest") as caught:
        parse_generate(frame(message))

    assert caught.value.code is ErrorCode.BadRequest


def test_a_compressed_request_is_refused() -> None:
    with pytest.raises(RequestError, match="invalid or unsupported gRPC payload"):
        parse_generate(frame(IDS, flags=1))


def test_its_model_cannot_be_set() -> None:
    with pytest.raises(RequestError, match='model "n" cannot be set'):
        parse_generate(frame(IDS)).with_model("n")
