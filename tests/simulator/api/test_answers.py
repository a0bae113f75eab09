from dataclasses import replace
from typing import Any

import pytest

from simulator.api import bodies
from simulator.api.answers import compose
from simulator.media import MediaItem
from tests.support.simulated import chat, item, options, picture, text_prompt


def said(body: dict[str, Any], *items: MediaItem, flags: tuple[str, ...] = ()) -> str:
    made = options(*flags)
    return "".join(compose(bodies.chat(body, made), text_prompt(5), items, made))


def image(*colour: str) -> MediaItem:
    return replace(item(), content=picture(colour[0], right=colour[1] if len(colour) > 1 else None))


@pytest.mark.parametrize("question", ["What color is this image?", "WHICH COLOUR?"])
def test_the_colour_question_is_answered_from_the_pixels(question: str) -> None:
    assert said(chat(question), image("red")) == "The image is red."


def test_a_picture_of_two_colours_is_named_so() -> None:
    assert said(chat("colour?"), image("red", "blue")) in ("The image is red and blue.", "The image is blue and red.")


def test_several_pictures_are_answered_in_order() -> None:
    assert said(chat("colours?"), image("red"), image("green")) == "The image is red. The image is green."


def test_a_picture_that_was_not_loaded_is_not_guessed() -> None:
    assert said(chat("colour?"), item()) == "I cannot tell: the image was not loaded."
    assert said(chat("colour?"), replace(item(), content=b"junk")) == "I cannot tell: the image cannot be read."


def test_the_question_without_an_image_gets_a_plain_answer() -> None:
    assert said(chat("What color is the sky?")) == said(chat("anything else"))


def test_the_same_prompt_gets_the_same_words() -> None:
    assert said(chat("x")) == said(chat("x"))
    assert said(chat("x"), flags=("--seed", "1")) != said(chat("x"))


@pytest.mark.parametrize(
    ("output", "words"), [("fixed:so it is", "so it is"), ("echo", "my words"), ("describe", "this server saw no media.")]
)
def test_outputs(output: str, words: str) -> None:
    assert said(chat("my words"), flags=("--sim-output", output)) == words


def test_describe_names_media_and_pod() -> None:
    assert said(chat("x"), item(tokens=64), flags=("--sim-output", "describe")) == "this server saw image of 64 tokens (data)."


@pytest.mark.parametrize(("fields", "tokens"), [({}, 64), ({"ignore_eos": True, "max_tokens": 300}, 301), ({"min_tokens": 60}, 64)])
def test_lengths(fields: dict[str, Any], tokens: int) -> None:
    made = options()

    assert len(compose(bodies.chat(chat("x", **fields), made), text_prompt(5), [], made)) == tokens


def test_a_minimum_lengthens_the_answer() -> None:
    made = options()

    assert len(compose(bodies.chat(chat("x", min_tokens=500), made), text_prompt(5), [], made)) >= 500


def test_a_stop_word_ends_the_answer_before_it() -> None:
    assert said(chat("x", stop="two"), flags=("--sim-output", "fixed:one two three")) == "one "
