from hypothesis import given
from hypothesis import strategies as st

from simulator.cache.blocks import BlockPool, BlockTable, chain_hash


def pool(count: int = 4, *, caching: bool = True) -> BlockPool:
    return BlockPool(count=count, block_size=4, caching=caching)


def filled(blocks: BlockPool, *digests: bytes) -> BlockTable:
    table = BlockTable()
    assert blocks.grow(table, 4 * len(digests))
    for position, digest in enumerate(digests):
        blocks.remember(table, position, digest)
    return table


def test_field_P28_the_hash_depends_on_the_parent_the_tokens_and_the_media() -> None:
    hashes = {chain_hash(p, t, e) for p in (b"a", b"b") for t in (b"1", b"2") for e in ([], ["m@0"], ["m@1"])}

    assert len(hashes) == 12


def test_only_the_leading_run_matches() -> None:
    blocks = pool()
    filled(blocks, b"a", b"b")

    assert len(blocks.match([b"a", b"b", b"c"])) == 2
    assert blocks.match([b"x", b"b"]) == []


def test_freed_blocks_are_found_until_they_are_handed_out_again() -> None:
    blocks = pool(2)
    blocks.release(filled(blocks, b"a", b"b"))
    assert blocks.usage == 0
    assert len(blocks.match([b"a", b"b"])) == 2

    filled(blocks, b"c")

    assert len(blocks.match([b"a", b"b"])) == 1, "the end of a prompt is evicted first"


def test_a_touched_block_outlives_an_untouched_one() -> None:
    blocks = pool(2)
    blocks.release(filled(blocks, b"a"))
    blocks.release(filled(blocks, b"b"))
    again = BlockTable()
    blocks.take(again, blocks.match([b"a"]))
    blocks.release(again)

    filled(blocks, b"c")

    assert blocks.match([b"a"])
    assert not blocks.match([b"b"])


def test_too_little_room_changes_nothing() -> None:
    blocks, table = pool(2), BlockTable()

    assert not blocks.grow(table, 12)
    assert blocks.free == 2
    assert table.blocks == []


def test_shared_blocks_are_counted_once_and_freed_by_the_last_holder() -> None:
    blocks = pool(4)
    first = filled(blocks, b"a")
    second = BlockTable()
    matched = blocks.match([b"a"])
    assert blocks.newly_needed(matched) == 0
    blocks.take(second, matched)

    blocks.release(first)
    assert blocks.usage == 0.25

    blocks.release(second)
    assert blocks.usage == 0


def test_without_caching_nothing_is_found() -> None:
    blocks = pool(caching=False)
    filled(blocks, b"a")

    assert blocks.match([b"a"]) == []


def test_forgetting_keeps_references() -> None:
    blocks = pool()
    table = filled(blocks, b"a")

    blocks.forget()

    assert blocks.cached == 0
    assert blocks.match([b"a"]) == []
    blocks.release(table)
    assert blocks.free == 4


@given(st.lists(st.tuples(st.sampled_from(["new", "free"]), st.lists(st.integers(0, 3), max_size=5)), max_size=40))
def test_blocks_are_conserved_and_hits_never_exceed_what_is_cached(actions: list[tuple[str, list[int]]]) -> None:
    blocks, held = pool(6), list[BlockTable]()
    for action, path in actions:
        if action == "free" and held:
            blocks.release(held.pop(0))
            continue
        digests = [bytes(path[: i + 1]) for i in range(len(path))]
        matched, table = blocks.match(digests), BlockTable()
        assert len(matched) <= blocks.cached
        if len(digests) - len(matched) + blocks.newly_needed(matched) > blocks.free:
            continue
        blocks.take(table, matched)
        assert blocks.grow(table, 4 * len(digests))
        for position, digest in enumerate(digests):
            blocks.remember(table, position, digest)
        held.append(table)
        referenced = {b.index for t in held for b in t.blocks}
        assert blocks.free == 6 - len(referenced)
    for table in held:
        blocks.release(table)
    assert blocks.free == 6
    assert blocks.usage == 0
