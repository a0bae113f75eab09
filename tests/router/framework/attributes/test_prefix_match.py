import pytest

from router.framework.attributes.prefix_match import PrefixMatch, prefix_match


@pytest.mark.parametrize(("matched", "total", "ratio"), [(0, 0, 0.0), (9, 15, 0.6), (15, 15, 1.0)])
def test_ratio(matched: int, total: int, ratio: float) -> None:
    assert PrefixMatch(matched_blocks=matched, total_blocks=total, block_size_tokens=64).ratio == ratio


def test_key() -> None:
    assert prefix_match().text == "PrefixMatch/approx-prefix-cache-producer"
