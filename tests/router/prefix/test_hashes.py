import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh64_intdigest

from router.framework.attributes.tokenized_prompt import MultimodalFeature
from router.prefix.hashes import block_hashes, chain_seed
from router.tokens.stream import TokenStream, packed_token_ids


def hashes(model: str, salt: str, tokens: list[int], block: int, *, most: int = 0) -> list[str]:
    found = block_hashes(packed_token_ids(tokens), seed=chain_seed(model, salt), block_tokens=block, max_blocks=most)
    return [f"{value:x}" for value in found]


@pytest.mark.parametrize(
    ("salt", "seed"), [pytest.param("", "ba2e567083a2b2e8", id="E01"), pytest.param("salt", "d91548f60ba19b9b", id="E02")]
)
def test_seed(salt: str, seed: str) -> None:
    assert f"{chain_seed('m', salt):x}" == seed


def test_e03_block_id() -> None:
    assert f"{xxh64_intdigest(packed_token_ids([1, 2])):x}" == "cd3d4c871ee4183a"


@pytest.mark.parametrize(
    ("model", "salt", "tokens", "block", "expected"),
    [
        pytest.param("m", "", [1, 2, 3, 4], 2, ["bdeada2071943583", "7aacfb531261b051"], id="E04"),
        pytest.param("m", "", [1, 2, 3, 4, 5], 2, ["bdeada2071943583", "7aacfb531261b051", "7e59226481d5dbc3"], id="E05"),
        pytest.param("m", "salt", [1, 2, 3, 4], 2, ["6b0e68c54f9ceac3", "f1433d4ff41f4429"], id="E06"),
        pytest.param("test-model1", "", [1, 2], 1, ["9b14876e27486c74", "b5ac6edc98e746e9"], id="E07"),
        pytest.param("test-model1", "", [1, 3], 1, ["9b14876e27486c74", "1d43cb3ff67dc42c"], id="E08"),
        pytest.param(
            "Qwen/Qwen3-VL-32B-Instruct",
            "",
            list(range(1, 131)),
            64,
            ["a9d4efe733c91c77", "6ae5749b3a9e54e0", "a0355846823c7418"],
            id="E09",
        ),
    ],
)
def test_chain(model: str, salt: str, tokens: list[int], block: int, expected: list[str]) -> None:
    assert hashes(model, salt, tokens, block) == expected


def test_e10_text_and_image() -> None:
    stream = TokenStream()
    stream.text(b"userdescribe this")
    stream.media("image", b"https://example.com/a.png", 225)

    found = block_hashes(stream.prompt().packed, seed=chain_seed("m"), block_tokens=64)

    expected = ["2a94741e5e5a52fe", "bd1d169a5e87058f", "2a400c14b07da2a0", "56e9d3fdbcdceec0"]
    assert [f"{value:x}" for value in found] == expected


def test_e11_salt_changes_every_hash() -> None:
    assert not set(hashes("m", "", [1, 2, 3, 4], 1)) & set(hashes("m", "salt", [1, 2, 3, 4], 1))


def test_e12_prompts_are_hashed_on_their_own() -> None:
    whole = hashes("m", "", [1, 2, 3, 4], 2)
    parts = [hashes("m", "", [1, 2], 2), hashes("m", "", [3, 4], 2)]

    assert parts[0][0] == whole[0]
    assert parts[1][0] != whole[1]


@pytest.mark.parametrize(("most", "blocks"), [pytest.param(2, 2, id="E28"), pytest.param(3, 3, id="E29"), pytest.param(0, 4, id="E30")])
def test_limit(most: int, blocks: int) -> None:
    assert len(hashes("m", "", [1, 2, 3, 4], 1, most=most)) == blocks


def test_e35_the_last_block_may_be_partial() -> None:
    assert len(hashes("m", "", list(range(950)), 64)) == 15


def feature(digest: str, offset: int, length: int) -> MultimodalFeature:
    return MultimodalFeature(modality="image", hash=digest, offset=offset, length=length)


def test_field_p22_real_ids_are_told_apart_by_what_the_image_covers() -> None:
    packed = packed_token_ids([1] * 8 + [99] * 4 + [1] * 8)

    def blocks(*features: MultimodalFeature) -> list[int]:
        return block_hashes(packed, seed=1, block_tokens=4, features=features)

    one, other, none = blocks(feature("aa", 8, 4)), blocks(feature("bb", 8, 4)), blocks()
    assert one[:2] == other[:2] == none[:2]
    assert not set(one[2:]) & set(other[2:])


def test_an_empty_feature_covers_nothing() -> None:
    packed = packed_token_ids([1] * 8)

    assert block_hashes(packed, seed=1, block_tokens=4, features=[feature("aa", 4, 0)]) == block_hashes(packed, seed=1, block_tokens=4)


@given(st.lists(st.integers(0, 2**32 - 1), max_size=60), st.lists(st.integers(0, 2**32 - 1), max_size=60), st.integers(1, 9))
def test_prompts_share_hashes_exactly_as_far_as_they_share_whole_blocks(first: list[int], second: list[int], block: int) -> None:
    shared = next((i for i, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]), min(len(first), len(second)))
    one, other = hashes("m", "", first, block), hashes("m", "", second, block)

    equal = next((i for i, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other)))

    expected = -(-shared // block) if first == second else shared // block
    assert equal == expected, json.dumps([first, second])
