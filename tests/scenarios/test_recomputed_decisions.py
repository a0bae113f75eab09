"""Random traffic on the aggregated topology, decided twice: by the engine, and by the rules written down here once more.

Prompts are kept as lists of tokens and blocks as the prompt up to their end, so nothing of hashes, masks or shared books is
repeated. The rules are those of the reference.
"""

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pytest
import xxhash

from router.framework.compat import Compat
from router.framework.endpoint import EndpointMetrics
from tests.support.decisions import Deciding, Decision, image, text
from tests.support.documents import AGGREGATION
from tests.support.pictures import data_url, png

BLOCK, THRESHOLD, FULL = 64, 0.6, 4_194_304
THROUGHPUT = 15_751
DEFAULT_CAPACITY = 31_250
SIZES = ((64, 64), (640, 480), (1280, 720), (1920, 1080))

Part = tuple[str, Any]  # ("text", text), or ("image", (width, height, variant))
Block = tuple[int, ...]  # the whole prompt up to the block's end


def tokens_of(parts: list[Part]) -> list[int]:
    """Bytes in fours, little-endian; pictures as their hash, once for each 1024 pixels."""
    stream = bytearray(b"user")
    for kind, value in parts:
        if kind == "text":
            stream += value.encode()
        else:
            stream += bytes(-len(stream) % 4)
            mark = xxhash.xxh64_intdigest(picture(value).encode()) & 0xFFFFFFFF
            stream += mark.to_bytes(4, "little") * max(1, value[0] * value[1] // 1024)
    stream += bytes(-len(stream) % 4)
    return [int.from_bytes(stream[start : start + 4], "little") for start in range(0, len(stream), 4)]


def picture(value: tuple[int, int, int]) -> str:
    width, height, variant = value
    return data_url(png(width, height) + bytes([variant]))


@dataclass
class Model:
    """What one endpoint is thought to hold and to work on."""

    capacity: int
    blocks: OrderedDict[Block, None] = field(default_factory=OrderedDict[Block, None])
    requests: int = 0
    tokens: int = 0

    def record(self, blocks: list[Block]) -> None:
        for block in blocks:
            self.blocks[block] = None
            self.blocks.move_to_end(block)
            while len(self.blocks) > self.capacity:
                self.blocks.popitem(last=False)


@dataclass
class Open:
    """A request whose answer is not complete."""

    decision: Decision
    target: str
    tokens: int
    begun: bool = False


class Recomputed:
    """The rules."""

    def __init__(self, capacities: dict[str, int], penalty_ms: float) -> None:
        self.models = {name: Model(capacity or DEFAULT_CAPACITY) for name, capacity in capacities.items()}
        self.penalty_ms = penalty_ms

    def decide(self, blocks: list[Block], length: int) -> tuple[dict[str, int], dict[str, float]]:
        """Cost of every endpoint, and the scores of those that are left to choose from."""
        matched = dict.fromkeys(self.models, 0)
        for block in blocks:
            holders = [name for name, model in self.models.items() if block in model.blocks]
            if not holders:
                break
            for name in holders:
                matched[name] += 1
        total = len(blocks)
        costs = {name: max(0, (total - m) * BLOCK) + max(0, length - total * BLOCK) for name, m in matched.items()}
        kept = self.stick({name: m / total if total else 0.0 for name, m in matched.items()})
        return costs, {name: self.score(self.models[name].tokens + costs[name]) for name in kept}

    def stick(self, ratios: dict[str, float]) -> list[str]:
        sticky = [name for name, ratio in ratios.items() if ratio >= THRESHOLD]
        others = [name for name in ratios if name not in sticky]
        if len(ratios) <= 1 or not sticky:
            return list(ratios)
        if self.penalty_ms > 0 and others and self.wait_ms(sticky) - self.wait_ms(others) > self.penalty_ms:
            return list(ratios)
        return sticky

    def wait_ms(self, names: list[str]) -> float:
        return min(self.models[name].tokens / THROUGHPUT * 1000 for name in names)

    def score(self, load: int) -> float:
        return 1.0 if load <= 0 else 1 - min(load, FULL) / FULL


class Traffic:
    """Both sides, fed with the same events."""

    def __init__(self, random: Random, penalty_ms: float) -> None:
        self.random = random
        names = "ABCDEF"[: random.randint(1, 6)]
        configuration = AGGREGATION.replace("maxTTFTPenaltyMs: 36000", f"maxTTFTPenaltyMs: {penalty_ms}")
        self.engine = Deciding(*names, compat=Compat(reference=True), configuration=configuration)
        capacities = {name: random.choice((0, 12, 60)) for name in names}
        for live in self.engine.endpoints.all():
            live.metrics = replace(EndpointMetrics(), cache_blocks=capacities[live.metadata.name])
        self.rules = Recomputed(capacities, penalty_ms)
        self.prompts: list[list[Part]] = [[("text", f"{number:02d}" * random.randint(10, 1500))] for number in range(4)]
        self.open: list[Open] = []
        self.stuck = 0

    async def step(self) -> None:
        chance = self.random.random()
        if chance < 0.5 or not self.open:
            await self.request()
        elif chance < 0.75:
            self.first_chunk(self.random.choice(self.open))
        else:
            self.end(self.random.choice(self.open))
        self.compare_books()

    async def request(self) -> None:
        parts = self.prompt()
        tokens = tokens_of(parts)
        blocks = [tuple(tokens[: min(end, len(tokens))]) for end in range(BLOCK, len(tokens) + BLOCK, BLOCK)]
        costs, scores = self.rules.decide(blocks, len(tokens))

        decision = await self.engine.route(*(text(value) if kind == "text" else image(picture(value)) for kind, value in parts))

        assert decision.tokens == len(tokens)
        assert {name: decision.cost(name) for name in costs} == costs
        assert decision.scores == pytest.approx(scores, rel=1e-12)
        assert decision.target in {name for name, score in scores.items() if score == max(scores.values())}
        self.stuck += len(scores) < len(costs)
        model = self.rules.models[decision.target]
        model.record(blocks)
        model.requests += 1
        model.tokens += costs[decision.target]
        self.open.append(Open(decision, decision.target, costs[decision.target]))

    def prompt(self) -> list[Part]:
        """A new beginning or a known one, and something behind it."""
        parts = list(self.random.choice(self.prompts))
        if self.random.random() < 0.6:
            width, height = self.random.choice(SIZES)
            parts.append(("image", (width, height, self.random.randint(0, 3))))
        if self.random.random() < 0.5:
            parts.append(("text", "tail" * self.random.randint(1, 400)))
        if self.random.random() < 0.3:
            self.prompts[self.random.randrange(len(self.prompts))] = list(parts)[-4:]
        return parts

    def first_chunk(self, request: Open) -> None:
        if not request.begun:
            request.begun = True
            self.engine.progress(request.decision)
            self.rules.models[request.target].tokens -= request.tokens

    def end(self, request: Open) -> None:
        self.open.remove(request)
        self.engine.progress(request.decision, end=True)
        self.rules.models[request.target].requests -= 1
        self.rules.models[request.target].tokens -= 0 if request.begun else request.tokens

    def compare_books(self) -> None:
        booked = {name: self.engine.load(name) for name in self.rules.models}
        assert booked == {name: (model.requests, model.tokens) for name, model in self.rules.models.items()}


@pytest.mark.parametrize("penalty_ms", [0, 60, 36_000], ids=["at-any-price", "soon-too-late", "guide"])
@pytest.mark.parametrize("seed", range(6))
async def test_the_engine_chooses_as_the_written_rules_do(seed: int, penalty_ms: int) -> None:
    traffic = Traffic(Random(seed), penalty_ms)

    for _ in range(120):
        await traffic.step()
    for request in list(traffic.open):
        traffic.end(request)

    traffic.compare_books()
    assert all(traffic.engine.load(name) == (0, 0) for name in traffic.rules.models)
    assert traffic.stuck > 0 or len(traffic.rules.models) == 1
