from router.framework.attributes.tokenized_prompt import MultimodalFeature, Prompt, TokenizedPrompt, tokenized_prompt

PLAIN = Prompt(packed=b"\x01\0\0\0\xff\xff\xff\xff")
MEDIA = Prompt(packed=bytes(4), features=(MultimodalFeature(modality="image", hash="a", offset=0, length=1),))


def test_tokens_are_four_bytes_little_endian() -> None:
    assert (PLAIN.length, PLAIN.token_ids()) == (2, [1, 2**32 - 1])


def test_lengths_add_up() -> None:
    assert TokenizedPrompt(prompts=(PLAIN, MEDIA)).length == 3


def test_media_anywhere_count() -> None:
    assert TokenizedPrompt(prompts=(PLAIN, MEDIA)).has_media
    assert not TokenizedPrompt(prompts=(PLAIN,)).has_media


def test_key() -> None:
    assert tokenized_prompt().text == "TokenizedPrompt/token-producer"
