from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from simulator.cache.blocks import BlockPool
from simulator.cache.media import MediaCache
from simulator.engine.scheduler import Scheduler
from simulator.media import MediaItem
from simulator.sequence import Chunk, Sequence
from tests.support.simulated import item, media_prompt, sequence, text_prompt


def scheduler(*, blocks: int = 100, budget: int = 16, slots: int = 8) -> Scheduler:
    pool = BlockPool(count=blocks, block_size=4, caching=True)
    return Scheduler(pool=pool, encoder_cache=MediaCache[MediaItem](100), max_sequences=slots, token_budget=budget, seed=b"")


def step(made: Scheduler) -> list[Chunk]:
    """One step as the engine does it; sequences with nothing left to say leave."""
    chunks = made.plan()
    for chunk in chunks:
        made.settle(chunk)
        if chunk.sequence.prefilled:
            chunk.sequence.extend(chunk.sequence.produced)
            if chunk.sequence.produced >= len(chunk.sequence.answer):
                made.remove(chunk.sequence)
    return chunks


def test_a_long_prompt_is_prefilled_in_chunks() -> None:
    made = scheduler(budget=16)
    made.add(sequence(text_prompt(40)))

    assert [step(made)[0].tokens for _ in range(3)] == [16, 16, 8]


def test_decoding_goes_before_prefill() -> None:
    made = scheduler(budget=16)
    decoding, late = sequence(text_prompt(8), answer=9), sequence(text_prompt(40, 100))
    made.add(decoding)
    step(made)
    made.add(late)

    assert [(c.sequence is decoding, c.tokens) for c in step(made)] == [(True, 1), (False, 15)]


def test_slots_are_limited() -> None:
    made = scheduler(slots=2)
    for _ in range(3):
        made.add(sequence(text_prompt(2)))
    made.plan()

    assert (len(made.running), len(made.waiting)) == (2, 1)


def test_a_repeated_prompt_takes_whole_blocks_but_never_all_of_it() -> None:
    made, second = scheduler(budget=100), sequence(text_prompt(16))
    made.add(sequence(text_prompt(16), answer=1))
    step(made)
    made.add(second)
    chunks = step(made)

    assert second.cached_tokens == 12
    assert chunks[0].tokens == 4


def test_the_youngest_is_preempted_when_blocks_run_out() -> None:
    made = scheduler(blocks=4, budget=100)
    old, young = sequence(text_prompt(8), answer=6), sequence(text_prompt(8, 50), answer=6)
    made.add(old)
    made.add(young)
    step(made)
    step(made)

    assert made.preempted == 1
    assert made.running == [old]
    assert made.waiting[0] is young


def test_an_image_is_encoded_once_by_the_step_that_reaches_it() -> None:
    made = scheduler(budget=100)
    first, second = (sequence(media_prompt("a", item("pic")), answer=1) for _ in range(2))
    made.add(first)
    assert [i.hash for c in step(made) for i in c.encode] == ["pic"]
    made.add(second)

    assert [i.hash for c in step(made) for i in c.encode] == []


def test_an_item_larger_than_the_budget_still_runs() -> None:
    made, big = scheduler(budget=8), sequence(media_prompt("a", item("big", 50)), answer=1)
    made.add(big)
    for _ in range(10):
        step(made)

    assert made.idle


def test_aborted_sequences_give_their_blocks_back() -> None:
    made = scheduler()
    gone = sequence(text_prompt(8))
    made.add(gone)
    step(made)
    gone.aborted = True

    assert made.drop_aborted() == [gone]
    assert made.idle
    assert made.pool.usage == 0


PLANS = st.lists(
    st.tuples(st.integers(1, 40), st.integers(1, 12), st.integers(0, 20), st.integers(0, 25)), max_size=12
)  # prompt, answer, image tokens, step at which the client leaves (0: never)


@given(PLANS, st.integers(1, 30), st.integers(20, 60))
def test_budget_holds_everything_ends_and_the_books_are_zero(plans: list[tuple[int, int, int, int]], budget: int, blocks: int) -> None:
    made = scheduler(blocks=blocks, budget=budget, slots=4)
    leaving: dict[int, list[Sequence]] = {}
    for i, (prompt, answer, image, leave) in enumerate(plans):
        what = media_prompt("word " * (prompt // 2), item(str(i % 3), image)) if image else text_prompt(prompt)
        added = sequence(what, answer=answer)
        made.add(added)
        leaving.setdefault(leave, []).append(added)
    for number in range(1, 2_000):
        for gone in leaving.get(number, []):
            gone.aborted = True
        made.drop_aborted()
        chunks = step(made)
        assert sum(c.tokens for c in chunks) <= budget
        assert max(Counter(id(c.sequence) for c in chunks).values(), default=0) <= 1
        assert len(made.running) <= 4
        if made.idle:
            break

    assert made.idle
    assert made.pool.free == blocks
