import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from simulator.clock import VirtualClock, settle
from simulator.engine.loop import Engine
from simulator.metrics.counters import Counters
from simulator.profiles import H200_TP2
from simulator.sequence import Sequence
from tests.support.simulated import item, media_prompt, options, text_prompt


class Speed:
    """Factor of the engine's time that a test can change."""

    def __init__(self) -> None:
        self.factor: float | None = 1.0

    def __call__(self) -> float | None:
        return self.factor


@asynccontextmanager
async def engine(*flags: str, speed: Speed | None = None) -> AsyncGenerator[tuple[Engine, VirtualClock], None]:
    clock = VirtualClock(start=0)
    made = Engine(options(*flags), clock, Counters(32_768), speed or Speed())
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(made.run())
        yield made, clock
        running.cancel()


def submit(made: Engine, tokens: int = 8, answer: int = 3, max_tokens: int = 100, first: int = 0) -> Sequence:
    return made.submit(text_prompt(tokens, first), max_tokens=max_tokens, answer=["x"] * answer)


async def drained(sequence: Sequence) -> list[int]:
    found: list[int] = []
    while (index := await sequence.events.get()) is not None:
        found.append(index)
    return found


@pytest.mark.parametrize(("answer", "limit", "tokens", "reason"), [(3, 100, 3, "stop"), (3, 3, 3, "stop"), (9, 4, 4, "length")])
async def test_a_sequence_ends_with_its_answer_or_its_limit(answer: int, limit: int, tokens: int, reason: str) -> None:
    async with engine() as (made, _):
        sequence = submit(made, answer=answer, max_tokens=limit)

        assert await drained(sequence) == list(range(tokens))
        assert sequence.finish_reason == reason
        assert made.counters.success[reason] == 1
        assert made.counters.generation_tokens == tokens


async def test_steps_take_the_time_of_the_profile() -> None:
    async with engine("--sim-profile", "qwen3-vl-32b-h200-tp2") as (made, clock):
        sequence = made.submit(media_prompt("", item("pic", 2040)), max_tokens=2, answer=["x"] * 2)
        await clock.advance(60)

        tokens = len(sequence.prompt.tokens)
        first = H200_TP2.step_base + H200_TP2.prefill_seconds(tokens, 0) + H200_TP2.encode_seconds([2040])
        assert sequence.times.first_token == pytest.approx(first)
        assert sequence.times.finished == pytest.approx(first + H200_TP2.floor_seconds(1, tokens))


async def test_D1_a_long_encode_delays_the_decode_of_others() -> None:
    async with engine("--sim-profile", "qwen3-vl-32b-h200-tp2") as (made, clock):
        stream = submit(made, answer=400)
        await clock.advance(1)
        before = stream.produced
        made.submit(media_prompt("", item("huge", 8160)), max_tokens=1, answer=["x"])
        await clock.advance(1)

        assert stream.produced - before < before / 2


async def test_an_abort_ends_within_a_step_and_is_counted_nowhere() -> None:
    async with engine("--sim-profile", "qwen3-vl-32b-h200-tp2") as (made, clock):
        sequence = submit(made, answer=1000)
        await clock.advance(0.5)
        assert made.counters.running == 1
        made.abort(sequence)
        await clock.advance(0.05)

        assert made.counters.running == made.counters.waiting == 0
        assert made.pool.usage == made.counters.kv_usage == 0
        assert sum(made.counters.success.values()) == 0
        assert made.counters.generation_tokens > 0


async def test_a_prompt_larger_than_the_pool_fails() -> None:
    async with engine("--num-gpu-blocks-override", "2") as (made, clock):
        sequence = submit(made, tokens=100)
        await clock.advance(1)

        assert sequence.finish_reason == "error"
        assert made.scheduler.idle


async def test_a_sequence_that_outgrows_the_pool_fails_and_the_engine_lives() -> None:
    async with engine("--num-gpu-blocks-override", "2") as (made, clock):
        grown = submit(made, tokens=20, answer=100)
        await clock.advance(1)
        assert grown.finish_reason == "error"

        assert await drained(submit(made, tokens=4)) == [0, 1, 2]


async def test_preempted_sequences_say_everything_once() -> None:
    async with engine("--num-gpu-blocks-override", "6") as (made, clock):
        sequences = [submit(made, tokens=20, answer=40, first=1000 * i) for i in range(3)]
        await clock.advance(10)

        assert made.counters.preemptions > 0
        for sequence in sequences:
            assert await drained(sequence) == list(range(40))
        assert made.pool.usage == 0


async def test_a_stalled_engine_makes_no_step_until_it_may() -> None:
    speed = Speed()
    speed.factor = None
    async with engine(speed=speed) as (made, clock):
        sequence = submit(made)
        await clock.advance(5)
        assert sequence.produced == 0
        speed.factor = 1.0
        await clock.advance(1)

        assert sequence.finish_reason == "stop"


async def test_jitter_is_reproducible() -> None:
    ends: list[float] = []
    for _ in range(2):
        async with engine("--sim-profile", "qwen3-vl-32b-h200-tp2", "--sim-jitter", "0.3") as (made, clock):
            sequence = submit(made, answer=20)
            await clock.advance(10)
            ends.append(sequence.times.finished or 0)

    assert ends[0] == ends[1] > 0


async def test_an_idle_engine_asks_the_clock_for_nothing() -> None:
    async with engine() as (made, clock):
        await settle()

        assert made.scheduler.idle
        assert clock.now() == 0
