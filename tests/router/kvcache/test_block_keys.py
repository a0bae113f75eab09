from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.framework.attributes.tokenized_prompt import MultimodalFeature, Prompt
from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.kvcache.block_keys import Algorithm, BlockKeys, TokenProcessor, media_extras
from router.tokens.stream import packed_token_ids

MODEL = "test-model"
FIRST, SECOND = list(range(1, 17)), list(range(17, 33))


def keys_of(tokens: list[int], *, salt: str = "", images: tuple[tuple[int, int, str], ...] = (), **settings: Any) -> list[str]:
    features = tuple(MultimodalFeature(modality="image", hash=name, offset=start, length=length) for start, length, name in images)
    prompt = Prompt(packed=packed_token_ids(tokens), features=features)
    return [f"{key:x}" for key in BlockKeys(TokenProcessor(**settings)).of_prompt(MODEL, prompt, salt).keys]


def root(algorithm: Algorithm, seed: str) -> str:
    return f"{BlockKeys(TokenProcessor(hash_algorithm=algorithm, hash_seed=seed)).root(MODEL):x}"


@pytest.mark.parametrize(
    ("algorithm", "seed", "expected"),
    [
        pytest.param("cbor-fnv", "", "f31309635ef2add0", id="M02"),
        pytest.param("", "", "f31309635ef2add0", id="M02-default"),
        pytest.param("cbor-fnv", "42", "3888e4ab5b23f4c9", id="M06"),
        pytest.param("xxh64", "", "9247acf12a72898", id="M07"),
    ],
)
def test_root(algorithm: Algorithm, seed: str, expected: str) -> None:
    assert root(algorithm, seed) == expected


@pytest.mark.parametrize(
    ("settings", "tokens", "expected"),
    [
        pytest.param({}, FIRST, ["8464eee8f2cf3412"], id="M03"),
        pytest.param({}, FIRST + SECOND, ["8464eee8f2cf3412", "ead3c96aea607c7e"], id="M04"),
        pytest.param({"hash_seed": "42"}, FIRST, ["2cf57333b30e2c21"], id="M06"),
        pytest.param({"hash_algorithm": "xxh64"}, FIRST + SECOND, ["bc179097a38e1274", "893932c05ff064ac"], id="M07"),
    ],
)
def test_keys_of_text(settings: dict[str, Any], tokens: list[int], expected: list[str]) -> None:
    assert keys_of(tokens, **settings) == expected


@pytest.mark.parametrize(
    ("algorithm", "expected"),
    [pytest.param("cbor-fnv", "4aa03f0b8c2ba35a", id="M05"), pytest.param("xxh64", "861359f95f1fc4e7", id="M08")],
)
def test_keys_with_an_image(algorithm: str, expected: str) -> None:
    assert keys_of(FIRST, images=((4, 8, "imghash"),), hash_algorithm=algorithm) == [expected]


@pytest.mark.parametrize(
    ("tokens", "block", "count"),
    [
        pytest.param(32, 8, 4, id="M09-8"),
        pytest.param(32, 16, 2, id="M09-16"),
        pytest.param(40, 16, 2, id="M09-partial"),
        pytest.param(15, 16, 0, id="shorter-than-a-block"),
    ],
)
def test_full_blocks_alone_have_keys(tokens: int, block: int, count: int) -> None:
    assert len(keys_of(list(range(tokens)), block_size_tokens=block)) == count


@pytest.mark.parametrize(
    ("given_settings", "said"),
    [
        pytest.param({"blockSizeTokens": -1}, "blockSizeTokens.*-1 is negative", id="M10-size"),
        pytest.param({"blockSize": -1}, "blockSize.*-1 is negative", id="M10-alias"),
        pytest.param({"hashAlgorithm": "md5"}, "hashAlgorithm.*md5", id="M10-algorithm"),
    ],
)
def test_settings_that_cannot_work_are_refused(given_settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        decode(TokenProcessor, given_settings)


@pytest.mark.parametrize(
    ("given_settings", "tokens"),
    [
        pytest.param({"blockSize": 8, "blockSizeTokens": 16}, 16, id="M11"),
        pytest.param({"blockSize": 8}, 8, id="alias"),
        pytest.param({"blockSizeTokens": 0}, 16, id="default"),
    ],
)
def test_size_of_a_block(given_settings: dict[str, int], tokens: int) -> None:
    assert decode(TokenProcessor, given_settings).block_tokens == tokens


def test_m12_blocks_that_an_image_overlaps() -> None:
    image = MultimodalFeature(modality="image", hash="h", offset=8, length=70)
    prompt = Prompt(packed=packed_token_ids([7] * 100), features=(image,))

    found = BlockKeys(TokenProcessor()).of_prompt(MODEL, prompt)

    assert media_extras([image], block_tokens=16, blocks=6) == dict.fromkeys(range(5), ("h",))
    assert (len(found.keys), list(found.media_blocks)) == (6, [0, 1, 2, 3, 4])


def test_media_of_one_block_stand_in_the_order_of_their_starts() -> None:
    features = [MultimodalFeature(modality="image", hash=name, offset=start, length=2) for name, start in (("late", 9), ("early", 3))]

    assert media_extras(features, block_tokens=16, blocks=1) == {0: ("early", "late")}


@pytest.mark.parametrize("algorithm", ["cbor-fnv", "xxh64"])
def test_a_salt_changes_every_key_and_is_no_media(algorithm: Algorithm) -> None:
    plain, salted = (keys_of(FIRST + SECOND, salt=salt, hash_algorithm=algorithm) for salt in ("", "tenant-a"))
    found = BlockKeys(TokenProcessor(hash_algorithm=algorithm)).of_prompt(MODEL, Prompt(packed=packed_token_ids(FIRST)), "tenant-a")

    assert set(plain) & set(salted) == set()
    assert list(found.media_blocks) == []


@pytest.mark.parametrize("algorithm", ["cbor-fnv", "xxh64"])
@given(shared=st.lists(st.integers(0, 2**32 - 1), max_size=20), one=st.integers(0, 9), other=st.integers(10, 20))
def test_keys_are_shared_as_far_as_the_tokens(algorithm: Algorithm, shared: list[int], one: int, other: int) -> None:
    first, second = (keys_of([*shared, *[tail] * 8], block_size_tokens=4, hash_algorithm=algorithm) for tail in (one, other))

    equal = len(shared) // 4
    assert first[:equal] == second[:equal]
    assert set(first[equal:]) & set(second[equal:]) == set()


@given(st.lists(st.lists(st.integers(0, 1), max_size=12), max_size=10))
def test_remembered_keys_are_the_computed_ones(prompts: list[list[int]]) -> None:
    one = BlockKeys(TokenProcessor(block_size_tokens=2))

    for tokens in prompts:
        packed = packed_token_ids(tokens)
        assert one.chain(5, packed) == BlockKeys(TokenProcessor(block_size_tokens=2)).chain(5, packed)
