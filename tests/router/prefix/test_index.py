from collections import OrderedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from router.prefix.index import PrefixIndex

CAPACITY = 5


def index_of(**held: list[int]) -> PrefixIndex[str]:
    index: PrefixIndex[str] = PrefixIndex()
    for holder, blocks in held.items():
        index.add(holder)
        index.record(holder, blocks, 100)
    return index


def test_e34_the_least_recently_recorded_block_goes_first() -> None:
    index: PrefixIndex[str] = PrefixIndex()
    index.add("a")
    for block in (1, 2, 3):
        index.record("a", [block], 2)

    assert [index.holds("a", block) for block in (1, 2, 3)] == [False, True, True]


def test_recording_again_refreshes_and_looking_up_does_not() -> None:
    index: PrefixIndex[str] = PrefixIndex()
    index.add("a")
    index.record("a", [1, 2], 2)
    index.record("a", [1], 2)
    index.unbroken([2])
    index.record("a", [3], 2)

    assert [index.holds("a", block) for block in (1, 2, 3)] == [True, False, True]


def test_capacity_is_that_of_the_first_recording() -> None:
    index: PrefixIndex[str] = PrefixIndex()
    index.add("a")
    index.record("a", [1], 2)
    index.record("a", [2, 3, 4], 100)

    assert index.blocks_of("a") == 2


def test_unbroken_prefixes() -> None:
    index = index_of(a=[1, 2, 3], b=[1, 3], c=[2, 3])

    assert index.unbroken([1, 2, 3, 4]) == {"a": 3, "b": 1}


def test_the_reference_counts_past_gaps() -> None:
    index = index_of(a=[1, 2, 3], b=[1, 3], c=[2, 3])

    assert index.anywhere([1, 2, 3, 4, 1]) == {"a": 3, "b": 2, "c": 2}


@pytest.mark.parametrize("hashes", [[], [9], [9, 1]])
def test_nothing_matches(hashes: list[int]) -> None:
    index = index_of(a=[1])

    assert index.unbroken(hashes) == index.anywhere(hashes) == {}


def test_nothing_is_recorded_for_strangers() -> None:
    index = index_of(a=[1])
    index.record("gone", [1, 2], 10)

    assert len(index) == 1
    assert index.unbroken([1, 2]) == {"a": 1}


def test_a_place_is_used_again_without_its_past() -> None:
    index = index_of(a=[1, 2], b=[1])
    index.remove("a")
    index.add("c")

    assert index.unbroken([1]) == {"b": 1}
    assert len(index) == 1


class IndexMachine(RuleBasedStateMachine):
    """Compares the index with the plainest possible one."""

    def __init__(self) -> None:
        super().__init__()
        self.index: PrefixIndex[str] = PrefixIndex()
        self.model: dict[str, OrderedDict[int, None]] = {}

    @rule(holder=st.sampled_from("abcd"))
    def add(self, holder: str) -> None:
        self.index.add(holder)
        self.model.setdefault(holder, OrderedDict())

    @rule(holder=st.sampled_from("abcd"))
    def remove(self, holder: str) -> None:
        self.index.remove(holder)
        self.model.pop(holder, None)

    @rule(holder=st.sampled_from("abcd"), hashes=st.lists(st.integers(0, 9), max_size=7))
    def record(self, holder: str, hashes: list[int]) -> None:
        self.index.record(holder, hashes, CAPACITY)
        if holder in self.model:
            for block in hashes:
                self.model[holder].pop(block, None)
                self.model[holder][block] = None
            while len(self.model[holder]) > CAPACITY:
                self.model[holder].popitem(last=False)

    @rule(hashes=st.lists(st.integers(0, 9), max_size=7))
    def look_up(self, hashes: list[int]) -> None:
        expected: dict[str, int] = {}
        for holder, blocks in self.model.items():
            length = next((i for i, block in enumerate(hashes) if block not in blocks), len(hashes))
            if length:
                expected[holder] = length
        assert self.index.unbroken(hashes) == expected
        assert self.index.anywhere(hashes) == self.anywhere(hashes)

    def anywhere(self, hashes: list[int]) -> dict[str, int]:
        counts: dict[str, int] = {}
        for block in hashes:
            holders = [holder for holder, blocks in self.model.items() if block in blocks]
            if not holders:
                break
            for holder in holders:
                counts[holder] = counts.get(holder, 0) + 1
        return counts

    @invariant()
    def sizes_agree(self) -> None:
        assert len(self.index) == sum(map(len, self.model.values()))
        assert dict(self.index.sizes()) == {holder: len(blocks) for holder, blocks in self.model.items()}


TestIndexMachine = IndexMachine.TestCase
TestIndexMachine.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)


@given(st.lists(st.integers(0, 2**64 - 1), max_size=50, unique=True))
def test_what_was_recorded_matches_whole(hashes: list[int]) -> None:
    index = index_of(a=hashes)

    assert index.unbroken(hashes) == ({"a": len(hashes)} if hashes else {})
