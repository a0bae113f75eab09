import json
from typing import Any

import msgspec
import pytest

from router.framework.attributes.tokenized_prompt import MultimodalFeature
from router.framework.errors import RequestError
from router.payloads.features import placed, read_features


def read(features: Any, tokens: int = 100) -> list[tuple[str, str, int, int]]:
    found = read_features(msgspec.Raw(json.dumps(features).encode()), tokens, "refused")
    return [(each.modality, each.hash, each.offset, each.length) for each in found]


def place(offset: int, length: int) -> dict[str, int]:
    return {"offset": offset, "length": length}


def test_modalities_are_zipped_and_sorted_by_offset() -> None:
    features = {
        "mm_hashes": {"image": ["a", "b", "c"], "video": ["v"]},
        "mm_placeholders": {"video": [place(5, 2)], "image": [place(8, 1), place(1, 2)], "audio": [place(0, 1)]},
    }

    assert read(features) == [("image", "b", 1, 2), ("video", "v", 5, 2), ("image", "a", 8, 1)]


@pytest.mark.parametrize(
    "features",
    [None, {}, {"mm_hashes": {"image": ["a"]}}, {"mm_hashes": {"image": None}, "mm_placeholders": None}, {"mm_hashes": {"image": [None]}}],
)
def test_incomplete_features_are_none(features: Any) -> None:
    assert read(features) == []


def test_an_absent_member_is_none() -> None:
    assert read_features(msgspec.Raw(), 5, "refused") == ()


@pytest.mark.parametrize("features", [5, [], {"mm_hashes": ["a"]}, {"mm_hashes": {"image": [5]}}])
def test_another_shape_is_refused(features: Any) -> None:
    with pytest.raises(RequestError, match="refused"):
        read(features)


@pytest.mark.parametrize(
    ("offset", "length", "kept"),
    [(0, 10, True), (9, 1, True), (0, 11, False), (10, 1, False), (-1, 2, False), (0, 0, False), (2**63, 2**63, False)],
)
def test_items_outside_the_tokens_are_left_out(offset: int, length: int, kept: bool) -> None:
    feature = MultimodalFeature(modality="image", hash="a", offset=offset, length=length)

    assert bool(placed([feature], 10)) is kept


def test_items_begun_within_another_are_left_out() -> None:
    def item(offset: int, length: int) -> MultimodalFeature:
        return MultimodalFeature(modality="image", hash="a", offset=offset, length=length)

    assert placed([item(4, 2), item(0, 3), item(2, 1), item(3, 1)], 10) == (item(0, 3), item(3, 1), item(4, 2))
