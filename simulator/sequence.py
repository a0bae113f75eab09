"""One generation: a prompt, the tokens made so far, and who waits for them."""

import asyncio
from array import array
from dataclasses import dataclass, field

from simulator.cache.blocks import BlockTable, chain_hash
from simulator.media import MediaItem
from simulator.prompt import Prompt


@dataclass(slots=True)
class Timeline:
    """Clock seconds of the stages; None: not reached."""

    arrived: float
    scheduled: float | None = None
    first_token: float | None = None
    last_token: float | None = None
    finished: float | None = None


class Sequence:
    """A sequence of the engine. `events` carries one number a token made; None ends it."""

    def __init__(self, *, prompt: Prompt, max_tokens: int, answer: list[str], salt: str, block_size: int, arrived: float) -> None:
        self.prompt, self.max_tokens, self.answer = prompt, max_tokens, answer
        self.computed = 0  # tokens with KV, cached ones included
        self.cached_tokens = 0
        self.produced = 0
        self.table = BlockTable()
        self.finish_reason: str | None = None
        self.aborted = False
        self.preemptions = 0
        self.encoded: list[MediaItem] = []
        self.times = Timeline(arrived)
        self.events: asyncio.Queue[int | None] = asyncio.Queue()
        self._tokens = array("I", prompt.tokens)
        self._salt, self._block_size = salt, block_size
        self.hashes: list[bytes] = []

    @property
    def length(self) -> int:
        """Prompt and produced tokens."""
        return len(self._tokens)

    @property
    def prefilled(self) -> bool:
        """Whether every token but the next one has its KV."""
        return self.computed >= self.length

    def extend(self, token: int) -> None:
        """One more token came out."""
        self._tokens.append(token)
        self.produced += 1

    def hash_blocks(self, seed: bytes, upto: int) -> list[bytes]:
        """Chained hashes of the full blocks among the first `upto` tokens."""
        size = self._block_size
        while (len(self.hashes) + 1) * size <= upto:
            start = len(self.hashes) * size
            parent = self.hashes[-1] if self.hashes else seed
            extras = self.prompt.extras(start, start + size)
            if start == 0 and self._salt:
                extras.append(self._salt)
            self.hashes.append(chain_hash(parent, self._tokens[start : start + size].tobytes(), extras))
        return self.hashes[: upto // size]

    def items_starting_in(self, start: int, end: int) -> list[MediaItem]:
        """Media items whose placeholders begin in `[start, end)`, or that a cached prefix ended in."""
        return [
            span.item for span in self.prompt.spans if start < span.offset + span.item.tokens and span.offset < end and span.offset >= 0
        ]


@dataclass(slots=True)
class Chunk:
    """What one step does for one sequence."""

    sequence: Sequence
    tokens: int
    context: int
    decode: bool
    encode: list[MediaItem] = field(default_factory=list[MediaItem])
