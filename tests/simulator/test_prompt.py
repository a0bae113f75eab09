from simulator.prompt import Part, Prompt, from_messages
from simulator.tokens import text
from tests.support.simulated import item


def test_media_stand_between_markers_as_placeholders() -> None:
    prompt = Prompt()
    prompt.add_media(item("a", 3))

    assert prompt.tokens == [text.VISION_START, *[text.IMAGE_PAD] * 3, text.VISION_END]
    assert [(s.offset, s.item.hash) for s in prompt.spans] == [(1, "a")]


def test_extras_name_items_with_their_offset_relative_to_the_block() -> None:
    prompt = Prompt(tokens=[0] * 26)
    prompt.tokens.pop()
    prompt.add_media(item("a", 64))

    assert [prompt.extras(start, start + 32) for start in (0, 32, 64, 96)] == [["a@26"], ["a@-6"], ["a@-38"], []]


def test_two_items_in_one_block_are_both_named() -> None:
    prompt = Prompt()
    prompt.add_media(item("a", 2))
    prompt.add_media(item("b", 2))

    assert prompt.extras(0, 16) == ["a@1", "b@5"]


def test_messages_follow_the_chat_template() -> None:
    vocabulary = text.Detokenizer()
    prompt = from_messages([("user", [Part("hi"), Part(item=item("a", 1))])], vocabulary, generation_prompt=True)

    user = [text.IM_START, *text.encode("user\n"), *text.encode("hi"), text.VISION_START, text.IMAGE_PAD, text.VISION_END, text.IM_END]
    assert prompt.tokens == [*user, *text.encode("\n"), text.IM_START, *text.encode("assistant\n")]
    assert [i.hash for i in prompt.items] == ["a"]


def test_without_generation_prompt_the_template_ends_with_the_message() -> None:
    prompt = from_messages([("user", [Part("hi")])], text.Detokenizer(), generation_prompt=False)

    assert prompt.tokens[-2:] == [text.IM_END, *text.encode("\n")]
