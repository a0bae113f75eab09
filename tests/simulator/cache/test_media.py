from hypothesis import given
from hypothesis import strategies as st

from simulator.cache.media import MediaCache
from simulator.media import MediaItem


def test_the_oldest_goes_first() -> None:
    cache = MediaCache[MediaItem](2)
    cache.put("a", 1)
    cache.put("b", 1)
    assert cache.touch("a")

    cache.put("c", 1)

    assert cache.newest(5) == ["c", "a"]
    assert not cache.touch("b")


def test_no_budget_holds_nothing() -> None:
    cache = MediaCache[MediaItem](0)
    cache.put("a", 1)

    assert "a" not in cache


def test_an_item_above_the_budget_drops_nobody() -> None:
    cache = MediaCache[MediaItem](2)
    cache.put("a", 1)
    cache.put("b", 3)

    assert cache.newest(5) == ["a"]


def test_clearing_frees_the_budget() -> None:
    cache = MediaCache[MediaItem](1)
    cache.put("a", 1)
    cache.clear()

    assert (len(cache), cache.used) == (0, 0)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), max_size=50))
def test_the_budget_holds(puts: list[tuple[int, int]]) -> None:
    cache = MediaCache[MediaItem](20)
    for name, cost in puts:
        cache.put(str(name), cost)
        assert 0 <= cache.used <= 20


def test_an_item_leaves_with_its_cost() -> None:
    cache = MediaCache[MediaItem](10)
    item = MediaItem(kind="image", hash="a", tokens=1, processed_bytes=6, source="data")
    cache.put("a", 6, item)
    assert cache.item("a") is item
    cache.put("b", 6)
    assert cache.item("a") is None
