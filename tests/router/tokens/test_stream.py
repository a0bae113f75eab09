import pytest
from xxhash import xxh64_hexdigest

from router.tokens.stream import MAX_ITEM_TOKENS, MAX_MEDIA_TOKENS, TokenStream, packed_token_ids, text_prompt


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("Hello", 2, id="A01"),
        pytest.param("hello world", 3, id="A02"),
        pytest.param("userHi", 2, id="A03"),
        pytest.param("a", 1, id="A04"),
        pytest.param("日本語", 3, id="A05"),
        pytest.param("a" * 1000, 250, id="A06"),
        pytest.param("", 0, id="A07"),
    ],
)
def test_text_counts_four_bytes_a_token(text: str, tokens: int) -> None:
    assert text_prompt(text.encode()).length == tokens


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        pytest.param("hello world", [1819043176, 1870078063, 6581362], id="A02"),
        pytest.param("userHi", [1919251317, 26952], id="A03"),
        pytest.param("a", [97], id="A04"),
    ],
)
def test_token_ids(text: str, ids: list[int]) -> None:
    assert text_prompt(text.encode()).token_ids() == ids


def test_a14_packed_tokens_are_the_text_itself() -> None:
    text = b"the quick brown fox jumps over!!"

    assert xxh64_hexdigest(text_prompt(text).packed) == xxh64_hexdigest(text)


def test_real_ids_are_kept() -> None:
    prompt_ids = [11, 22, 33, 2**32 - 1]

    assert packed_token_ids(prompt_ids) == b"".join(token.to_bytes(4, "little") for token in prompt_ids)


def test_d11_media_after_whole_tokens() -> None:
    stream = TokenStream()
    stream.text(b"user")
    stream.media("image", b"x", 3)

    assert stream.prompt().features[0].offset == 1


def test_d12_media_after_a_partial_token_is_padded() -> None:
    stream = TokenStream()
    stream.text(b"user")
    stream.text(b"ab")
    stream.media("image", b"x", 3)
    stream.text(b"c")
    prompt = stream.prompt()

    assert (prompt.features[0].offset, prompt.length) == (2, 6)
    assert prompt.packed[:8] == b"userab\0\0"
    assert prompt.packed[-4:] == b"c\0\0\0"


@pytest.mark.parametrize("asked", [0, -3])
def test_an_item_is_at_least_one_token(asked: int) -> None:
    stream = TokenStream()
    stream.media("image", b"x", asked)

    assert stream.prompt().length == 1


def test_headers_that_claim_too_much_are_capped() -> None:
    stream = TokenStream()
    for index in range(20):
        stream.media("image", b"%d" % index, 1 << 40)
    lengths = [feature.length for feature in stream.prompt().features]

    assert lengths[0] == MAX_ITEM_TOKENS
    assert lengths[-1] == 1
    assert sum(lengths) <= MAX_MEDIA_TOKENS + 20
