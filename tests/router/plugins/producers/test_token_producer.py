import json
from typing import Any

import pytest

from router.framework.attributes.tokenized_prompt import TokenizedPrompt, tokenized_prompt
from router.framework.compat import Compat
from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.framework.parsing import Payload
from router.payloads.chat import parse_chat
from router.payloads.completions import parse_completions
from router.payloads.conversations import parse_conversations
from router.payloads.embeddings import parse_embeddings
from router.payloads.generate import parse_generate, parse_sglang_generate
from router.payloads.image_generation import parse_image_generation
from router.payloads.messages import parse_messages
from router.payloads.responses import parse_responses
from router.payloads.vllm_engine import parse_generate as parse_engine_generate
from router.plugins.producers.token_producer import Parameters, TokenProducer
from router.wire import VIDEO_DURATION
from tests.support.engine import REFERENCE, inference_request, make_handle
from tests.support.pictures import DATA_URL_64_X_32, data_url, png_url
from tests.support.protobuf import field, frame, packed

OURS = Compat()
GUIDE_IMAGE = {"image": {"mode": "dynamic", "defaultResolution": {"width": 1280, "height": 720}, "dynamic": {"factor": 1024}}}
GUIDE_VIDEO = {
    "video": {
        "defaultResolution": {"width": 1280, "height": 720},
        "maxVideoTokens": 12288,
        "frames": {"minFrames": 4, "maxFrames": 768, "sampled": {"temporalPatchSize": 2}},
    }
}


async def tokens_of(
    payload: Payload, *, estimate: dict[str, Any] | None = None, compat: Compat = OURS, headers: dict[str, str] | None = None
) -> TokenizedPrompt | None:
    producer = TokenProducer("token-producer", decode(Parameters, {"estimate": estimate or {}}), make_handle(compat=compat))
    request = inference_request(headers=headers)
    await producer.prepare(request, payload)
    return request.read(tokenized_prompt())


def chat(*messages: dict[str, Any], **more: Any) -> Payload:
    return parse_chat(json.dumps({"model": "m", "messages": messages, **more}).encode())


def user(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def video(url: str) -> dict[str, Any]:
    return {"type": "video_url", "video_url": {"url": url}}


def audio(data: str, form: str) -> dict[str, Any]:
    return {"type": "input_audio", "input_audio": {"data": data, "format": form}}


def messages(*turns: dict[str, Any], **more: Any) -> Payload:
    return parse_messages(json.dumps({"model": "m", "messages": turns, **more}, separators=(",", ":")).encode())


def inline(data: str) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def completions(prompt: Any) -> Payload:
    return parse_completions(json.dumps({"model": "m", "prompt": prompt}).encode())


async def lengths(payload: Payload) -> list[int]:
    found = await tokens_of(payload)
    assert found is not None
    return [prompt.length for prompt in found.prompts]


async def test_a08_several_texts_are_several_prompts() -> None:
    assert await lengths(completions(["hello world", "foo bar"])) == [3, 2]


async def test_a09_completions_token_ids() -> None:
    found = await tokens_of(completions([11, 22, 33]))

    assert found is not None
    assert found.prompts[0].token_ids() == [11, 22, 33]
    assert not found.estimated


async def test_a10_embeddings_token_ids() -> None:
    found = await tokens_of(parse_embeddings(b'{"model":"m","input":[4,5]}'))

    assert found is not None
    assert found.prompts[0].token_ids() == [4, 5]


async def test_a11_generate_token_ids_and_their_media() -> None:
    features = '"features":{"mm_hashes":{"image":["aa"]},"mm_placeholders":{"image":[{"offset":1,"length":2}]}}'
    found = await tokens_of(parse_generate(f'{{"model":"m","token_ids":[7,8,9],"cache_salt":"s",{features}}}'.encode()))

    assert found is not None
    (prompt,) = found.prompts
    assert prompt.token_ids() == [7, 8, 9]
    assert [(each.modality, each.hash, each.offset, each.length) for each in prompt.features] == [("image", "aa", 1, 2)]
    assert (found.estimated, found.cache_salt) == (False, "s")


async def test_token_ids_of_the_engine_service() -> None:
    media = field(7, field(5, field(1, 1) + field(2, 2)) + field(6, "aa"))
    found = await tokens_of(parse_engine_generate(frame(field(2, field(2, packed([7, 8, 9]))) + media)))

    assert found is not None
    (prompt,) = found.prompts
    assert prompt.token_ids() == [7, 8, 9]
    assert [(each.modality, each.hash, each.offset, each.length) for each in prompt.features] == [("image", "aa", 1, 2)]
    assert not found.estimated


async def test_text_of_the_engine_service_is_estimated() -> None:
    found = await tokens_of(parse_engine_generate(frame(field(3, "hello world"))))

    assert found is not None
    assert found.prompts[0].token_ids() == [1819043176, 1870078063, 6581362]
    assert found.estimated


async def test_token_ids_of_sglang_and_its_salt() -> None:
    found = await tokens_of(parse_sglang_generate(b'{"input_ids":[[1,2],[3]],"extra_key":"s"}'))
    salted = await tokens_of(parse_sglang_generate(b'{"input_ids":[1],"extra_key":"s"}'))

    assert found is not None
    assert salted is not None
    assert [prompt.token_ids() for prompt in found.prompts] == [[1, 2], [3]]
    assert (salted.cache_salt, salted.estimated) == ("s", False)


async def test_a12_chat_counts_the_role() -> None:
    assert await lengths(chat({"role": "user", "content": "Hello"})) == [3]


async def test_a13_chat_parts() -> None:
    found = await tokens_of(chat(user(text("describe this"))))

    assert found is not None
    assert found.prompts[0].token_ids() == [1919251317, 1668506980, 1700948338, 1768453152, 115]


@pytest.mark.parametrize(
    ("part", "tokens", "digest", "token_id"),
    [
        pytest.param(audio("AAAA", "wav"), 2, "ebf9dfbc6413c16a", 1679016298, id="D01"),
        pytest.param(audio("", ""), 1, "ef46db3751d8e999", None, id="D03"),
        pytest.param({"type": "audio_url", "audio_url": {"url": "https://x/a.wav"}}, 1, "ef46db3751d8e999", None, id="D04"),
        pytest.param(image("https://example.com/a.png"), 225, "9f4fdeae6ee1ceba", 1860292282, id="D05"),
        pytest.param(video("https://example.com/clip.mp4"), 4500, "34569481d4b7590b", 3568785675, id="D06"),
        pytest.param(image("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAA+gAAAK8CAIAAADzqQLm"), 683, "56620d74a230c336", None, id="D07"),
        pytest.param(image(DATA_URL_64_X_32), 2, "149ccb172d92c1e6", None, id="D08"),
    ],
)
async def test_media_features(part: dict[str, Any], tokens: int, digest: str, token_id: int | None) -> None:
    found = await tokens_of(chat(user(part)), compat=REFERENCE)

    assert found is not None
    (feature,) = found.prompts[0].features
    assert (feature.length, feature.hash, feature.offset) == (tokens, digest, 1)
    assert token_id is None or set(found.prompts[0].token_ids()[1:]) == {token_id}


async def test_d09_the_picture_of_d08_as_anthropic_sends_it() -> None:
    found = await tokens_of(messages(user(inline(DATA_URL_64_X_32.partition("base64,")[2]))))

    assert found is not None
    (feature,) = found.prompts[0].features
    assert (feature.modality, feature.hash, feature.length, feature.offset) == ("image", "acf2d3e569b180db", 2, 1)


async def test_stream_of_a_messages_body() -> None:
    call = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "tool_use", "id": "1", "name": "f", "input": {}}],
    }
    payload = messages(user(text("hi")), call, tools=[{"name": "f"}], system=[text("be"), text("x-anthropic-billing-header: 1")])

    found = await tokens_of(payload)

    assert found is not None
    assert found.prompts[0].packed.rstrip(b"\0") == b'[{"name":"f"}]beuserhiassistanthm1f{}'
    assert found.estimated


async def test_texts_of_a_tool_result_come_before_its_images() -> None:
    picture = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    result = {"type": "tool_result", "tool_use_id": "1", "content": [picture, text("one"), text("two")]}

    found = await tokens_of(messages(user(result)))

    assert found is not None
    (feature,) = found.prompts[0].features
    assert found.prompts[0].packed[:12] == b"userone\ntwo\0"
    assert (feature.hash, feature.offset, feature.length) == ("9f4fdeae6ee1ceba", 3, 225)


async def test_d02_long_audio() -> None:
    found = await tokens_of(chat(user(audio("A" * 4000, "mp3"))))

    assert found is not None
    assert found.prompts[0].features[0].length == 1001


async def test_d10_text_then_image() -> None:
    found = await tokens_of(chat(user(text("describe this"), image("https://example.com/a.png"))))

    assert found is not None
    (feature,) = found.prompts[0].features
    assert (feature.offset, feature.length, found.length) == (5, 225, 230)
    assert set(found.prompts[0].token_ids()[5:]) == {1860292282}


async def test_d11_image_first() -> None:
    found = await tokens_of(chat(user(image("https://example.com/a.png"))))

    assert found is not None
    assert found.prompts[0].features[0].offset == 1


async def test_d12_image_after_six_bytes() -> None:
    found = await tokens_of(chat(user(text("ab"), image("https://example.com/a.png"))))

    assert found is not None
    assert found.prompts[0].features[0].offset == 2


async def test_c39_headers_apply_to_every_video() -> None:
    payload = chat(user(video("https://x/1.mp4"), video("https://x/2.mp4")))

    found = await tokens_of(payload, estimate=GUIDE_VIDEO, headers={VIDEO_DURATION: "13"})

    assert found is not None
    assert [feature.length for feature in found.prompts[0].features] == [11700, 11700]


async def test_our_audio_urls_differ() -> None:
    payload = chat(user(*({"type": "audio_url", "audio_url": {"url": f"https://x/{index}.wav"}} for index in range(2))))

    found = await tokens_of(payload)

    assert found is not None
    first, second = found.prompts[0].features
    assert first.hash != second.hash


async def test_field_p24_a_broken_image_keeps_its_place() -> None:
    broken = "data:image/png;base64,!!!!"
    found = await tokens_of(chat(user(image(png_url(640, 480)), image(broken), image(png_url(64, 32)))), estimate=GUIDE_IMAGE)

    assert found is not None
    assert [feature.length for feature in found.prompts[0].features] == [300, 900, 2]


async def test_field_p26_tools_and_later_messages_decide() -> None:
    first = {"role": "user", "content": "Hello"}
    variants = [
        chat(first),
        chat(first, user(image("https://x/1.png"))),
        chat(first, user(image("https://x/2.png"))),
        chat(first, tools=[{"type": "function", "function": {"name": "f"}}]),
        chat(first, tools=[{"type": "function", "function": {"name": "g"}}]),
    ]

    packed = {found.prompts[0].packed for payload in variants if (found := await tokens_of(payload))}

    assert len(packed) == len(variants)


async def test_tool_calls_count_unless_the_reference_is_asked_for() -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}
    payload = chat({"role": "user", "content": "Hi"}, call)

    ours, reference = await tokens_of(payload), await tokens_of(payload, compat=REFERENCE)

    assert ours is not None
    assert reference is not None
    assert reference.prompts[0].packed == b"userHiassistant\0"
    assert ours.length > reference.length


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (parse_embeddings(b'{"model":"m","input":["a","b"]}'), b'["a","b"]\0\0\0'),
        (parse_conversations(b'{"items":[{"a":1}]}'), b'[{"a":1}]\0\0\0'),
        (
            parse_responses(b'{"model":"m","instructions":"be","input":"hello"}'),
            b'[{"instructions":"be"},{"input":"hello"}]\0\0\0',
        ),
    ],
    ids=["embeddings", "conversations", "responses"],
)
async def test_bodies_that_stay_json(payload: Payload, expected: bytes) -> None:
    found = await tokens_of(payload)

    assert found is not None
    assert found.prompts[0].packed == expected


@pytest.mark.parametrize("payload", [parse_image_generation(b'{"prompt":"a cat"}')], ids=["image-generation"])
async def test_bodies_without_tokens(payload: Payload) -> None:
    assert await tokens_of(payload) is None


async def test_a_body_that_yields_no_bytes_stores_nothing() -> None:
    assert await tokens_of(chat({"role": "", "content": ""})) is None


async def test_the_salt_goes_along() -> None:
    found = await tokens_of(chat({"role": "user", "content": "Hello"}, cache_salt="tenant"))

    assert found is not None
    assert found.cache_salt == "tenant"


async def test_the_producers_name_is_part_of_the_key() -> None:
    producer = TokenProducer("mine", Parameters(), make_handle())

    assert producer.produces() == {tokenized_prompt("mine")}


async def test_field_p22_only_blocks_from_the_image_on_differ() -> None:
    def payload(pixels: bytes) -> Payload:
        return chat(user(text("x" * 1000), image(data_url(pixels))))

    one, other = await tokens_of(payload(b"one")), await tokens_of(payload(b"two"))

    assert one is not None
    assert other is not None
    offset = 4 * one.prompts[0].features[0].offset
    assert one.prompts[0].packed[:offset] == other.prompts[0].packed[:offset]
    assert one.prompts[0].packed[offset:] != other.prompts[0].packed[offset:]


@pytest.mark.parametrize(
    "given",
    [{"vllm": {"url": "http://x"}, "modelName": "m"}, {"modelName": "m"}, {"udsTokenizerConfig": {"socketFile": "/x"}}],
    ids=["vllm", "modelName", "uds"],
)
def test_other_backends_are_not_built_yet(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="not built yet"):
        decode(Parameters, given)
