import pytest

from router.framework.attributes.tokenized_prompt import MultimodalFeature
from router.framework.errors import RequestError
from router.payloads.generate import REFUSAL, SGLANG_REFUSAL, parse_generate, parse_sglang_generate
from router.payloads.prompt import Prompts


def test_fields_of_a_generate_body() -> None:
    payload = parse_generate(
        b'{"model":"m","stream":true,"token_ids":[7,8,9],"cache_salt":"s","sampling_params":{"max_tokens":5},'
        b'"features":{"mm_hashes":{"image":["aa"]},"mm_placeholders":{"image":[{"offset":1,"length":2}]},"kwargs_data":{"image":["Zm9v"]}}}'
    )

    assert (payload.model, payload.stream, payload.max_output_tokens, payload.cache_salt) == ("m", True, 5, "s")
    assert payload.prompts == (Prompts(token_ids=(7, 8, 9)),)
    assert payload.features == (MultimodalFeature(modality="image", hash="aa", offset=1, length=2),)
    assert payload.with_model("n").startswith(b'{"model":"n",')


@pytest.mark.parametrize("body", [b"{}", b'{"token_ids":[]}', b'{"token_ids":null}', b'{"token_ids":["a"]}', b'{"token_ids":[-1]}'])
def test_body_without_token_ids_is_refused(body: bytes) -> None:
    with pytest.raises(RequestError) as caught:
        parse_generate(body)

    assert caught.value.message == REFUSAL


@pytest.mark.parametrize("sampling", ["null", "[]", "5", "{}", '{"max_tokens":null}', '{"max_tokens":-1}'])
def test_a_cap_that_cannot_be_read_is_none(sampling: str) -> None:
    assert parse_generate(f'{{"token_ids":[1],"sampling_params":{sampling}}}'.encode()).max_output_tokens is None


@pytest.mark.parametrize(
    ("members", "prompts"),
    [
        ('"input_ids":[1,2]', (Prompts(token_ids=(1, 2)),)),
        ('"input_ids":[[1,2],[],[3]]', (Prompts(token_ids=(1, 2)), Prompts(token_ids=(3,)))),
        ('"text":"hello"', (Prompts(texts=("hello",)),)),
        ('"input_ids":null,"text":["a","b"]', (Prompts(texts=("a", "b")),)),
    ],
    ids=["ids", "batch", "text", "texts"],
)
def test_prompts_of_sglang(members: str, prompts: tuple[Prompts, ...]) -> None:
    assert parse_sglang_generate(f"{{{members}}}".encode()).prompts == prompts


@pytest.mark.parametrize("members", ['"text":"hello"', '"input_ids":[[1]]', '"input_ids":["a"]'])
def test_token_ids_alone_can_be_asked_for(members: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse_sglang_generate(f"{{{members}}}".encode(), token_ids_only=True)

    assert caught.value.message == SGLANG_REFUSAL


@pytest.mark.parametrize("members", ["", '"input_ids":[]', '"input_ids":[[]]', '"input_ids":"a"', '"input_ids":[[1],"a"]', '"text":5'])
def test_sglang_body_without_prompt_is_refused(members: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse_sglang_generate(f"{{{members}}}".encode())

    assert caught.value.message == SGLANG_REFUSAL


def test_other_fields_of_sglang() -> None:
    payload = parse_sglang_generate(b'{"input_ids":[1],"stream":true,"extra_key":"s","sampling_params":{"max_new_tokens":0}}')

    assert (payload.stream, payload.cache_salt, payload.max_output_tokens) == (True, "s", 0)
    assert not payload.rewritable


def test_lists_for_several_prompts_are_passed_over() -> None:
    payload = parse_sglang_generate(b'{"input_ids":[[1]],"extra_key":["s"],"sampling_params":[{"max_new_tokens":1}]}')

    assert (payload.cache_salt, payload.max_output_tokens) == ("", None)


def test_a_model_cannot_be_set_where_the_api_has_none() -> None:
    with pytest.raises(RequestError, match='model "n" cannot be set'):
        parse_sglang_generate(b'{"input_ids":[1]}').with_model("n")
