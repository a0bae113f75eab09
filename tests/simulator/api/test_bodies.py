from typing import Any

import pytest

from simulator.api import bodies
from simulator.errors import ApiError
from tests.support.simulated import MODEL, chat, options

REFUSED: list[tuple[dict[str, Any], str, str, str | None]] = [
    ({"model": MODEL}, "Bad Request", "1 validation error", "body.messages"),
    (chat("x") | {"messages": []}, "BadRequestError", "Cannot apply chat template to an empty conversation.", None),
    (chat("x") | {"messages": "x"}, "Bad Request", "1 validation error", "body.messages"),
    (chat("x") | {"messages": ["x"]}, "Bad Request", "1 validation error", "body.messages.0"),
    (chat("x", max_tokens=0), "BadRequestError", "max_tokens must be at least 1, got 0.", "max_tokens"),
    (chat("x", max_tokens=-3), "BadRequestError", "max_tokens must be at least 1, got -3.", "max_tokens"),
    (chat("x", max_tokens="9"), "Bad Request", "1 validation error", "body.max_tokens"),
    (chat("x", n=0), "BadRequestError", "n must be at least 1", "n"),
    (chat("x", temperature=-1), "BadRequestError", "temperature must be non-negative", "temperature"),
    (chat("x", min_tokens=5, max_tokens=1), "BadRequestError", "min_tokens must be between", "min_tokens"),
    (chat("x", stream_options={"include_usage": True}), "BadRequestError", "Stream options can only be defined", None),
    (chat("x", stop=5), "Bad Request", "1 validation error", "body.stop"),
    (chat({"type": "smell"}), "BadRequestError", "Unsupported chat content part type: 'smell'", "type"),
    (chat("x", continue_final_message=True, add_generation_prompt=True), "BadRequestError", "Cannot set both", None),
]


@pytest.mark.parametrize(("body", "kind", "words", "param"), REFUSED, ids=lambda v: str(v)[:40] if isinstance(v, str) else None)
def test_refused_bodies(body: dict[str, Any], kind: str, words: str, param: str | None) -> None:
    with pytest.raises(ApiError) as caught:
        bodies.chat(body, options())

    assert (caught.value.status, caught.value.kind, caught.value.param) == (400, kind, param)
    assert caught.value.message.startswith(words)


P07 = [
    b'{"model":',
    b"[]",
    b"null",
    b'"x"',
    b"",
    b'{"a":1}{"b":2}',
    b'\xef\xbb\xbf{"a":1}',
    b'{"a":"\\ud800"}',
    b"[" * 2_000,
    b'{"a":' * 100_000,
]


@pytest.mark.parametrize("content", P07, ids=lambda b: repr(b[:14]))
def test_field_P07_malformed_json_is_a_400(content: bytes) -> None:
    with pytest.raises(ApiError) as caught:
        bodies.decode(content, "application/json")

    assert (caught.value.status, caught.value.kind) == (400, "Bad Request")


def test_other_content_types_are_refused() -> None:
    with pytest.raises(ApiError, match="text/plain"):
        bodies.decode(b"{}", "text/plain")


def test_more_items_than_allowed() -> None:
    part = {"type": "image_url", "image_url": {"url": "http://h/a"}}
    with pytest.raises(ApiError, match=r"At most 1 image\(s\) may be provided in one prompt.") as caught:
        bodies.chat(chat(part, part), options("--limit-mm-per-prompt", '{"image":1}'))
    assert caught.value.param == "image"


def test_max_completion_tokens_wins() -> None:
    assert bodies.chat(chat("x", max_tokens=9, max_completion_tokens=3), options()).sampling.max_tokens == 3


def test_unknown_fields_and_foreign_transfer_parameters_are_ignored() -> None:
    made = bodies.chat(chat("x", wild=1, kv_transfer_params={"a": 1}, ec_transfer_params={}), options())

    assert made.messages[0].text == "x"


def test_tools_are_part_of_the_prompt() -> None:
    assert "weather" in bodies.chat(chat("x", tools=[{"name": "weather"}]), options()).tools


@pytest.mark.parametrize(("prompt", "made"), [("a", ("a",)), (["a", "b"], ("a", "b")), ([1, 2], ((1, 2),))])
def test_prompts_of_completions(prompt: object, made: tuple[object, ...]) -> None:
    assert bodies.completions({"prompt": prompt}).prompts == made


@pytest.mark.parametrize("prompt", [None, 5, [], [None], [-1], [2**40]])
def test_other_prompts_are_refused(prompt: object) -> None:
    with pytest.raises(ApiError):
        bodies.completions({"prompt": prompt})


def test_a_missing_model_means_the_served_one_and_an_unknown_is_404() -> None:
    assert bodies.check_model(None, options()) == MODEL
    with pytest.raises(ApiError, match="The model `x` does not exist") as caught:
        bodies.check_model("x", options())
    assert (caught.value.status, caught.value.param) == (404, "model")
