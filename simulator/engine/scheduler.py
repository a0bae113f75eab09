"""Chooses what the next step works on, within a token budget.

Running sequences go first, decoding ones before chunks of prefill; waiting ones are admitted while budget, slots and blocks last. When a
decoding sequence finds no free block, the youngest running one is preempted: it loses its blocks and waits at the head of the queue.
"""

from collections import deque

from simulator.cache.blocks import BlockPool
from simulator.cache.media import MediaCache
from simulator.media import MediaItem
from simulator.sequence import Chunk, Sequence


class Scheduler:
    """Queues of one engine. `plan` is called once a step and moves sequences between them."""

    def __init__(
        self, *, pool: BlockPool, encoder_cache: MediaCache[MediaItem], max_sequences: int, token_budget: int, seed: bytes
    ) -> None:
        self.pool, self.encoder_cache = pool, encoder_cache
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []
        self.preempted = 0
        self._max_sequences, self._token_budget, self._seed = max_sequences, token_budget, seed

    def add(self, sequence: Sequence) -> None:
        """Queue a sequence."""
        self.waiting.append(sequence)

    @property
    def idle(self) -> bool:
        """Nothing to do."""
        return not self.waiting and not self.running

    def drop_aborted(self) -> list[Sequence]:
        """Take out sequences whose client is gone and give their blocks back."""
        gone = [s for s in (*self.running, *self.waiting) if s.aborted]
        for sequence in gone:
            self.remove(sequence)
        return gone

    def remove(self, sequence: Sequence) -> None:
        """Take one sequence out, running or waiting."""
        if sequence in self.running:
            self.running.remove(sequence)
        elif sequence in self.waiting:
            self.waiting.remove(sequence)
        self.pool.release(sequence.table)

    def plan(self) -> list[Chunk]:
        """The chunks of the next step; the budget is never exceeded."""
        budget = self._token_budget
        encode_budget = self._encode_budget()
        chunks: list[Chunk] = []
        ready = [s for s in self.running if s.length - s.computed <= 1 and s.produced]
        for sequence in ready:
            if budget and sequence in self.running and self._room(sequence, sequence.length):
                chunks.append(Chunk(sequence, 1, sequence.computed, decode=True))
                budget -= 1
        for sequence in [s for s in self.running if s not in ready]:
            budget, encode_budget = self._prefill(sequence, budget, encode_budget, chunks)
        while self.waiting and budget and len(self.running) < self._max_sequences:
            sequence = self.waiting[0]
            if not self._admit(sequence):
                break
            self.waiting.popleft()
            self.running.append(sequence)
            budget, encode_budget = self._prefill(sequence, budget, encode_budget, chunks)
        return [chunk for chunk in chunks if chunk.sequence in self.running]

    def _encode_budget(self) -> int:
        """At least one item always fits, however large."""
        sizes = [item.tokens for s in (*self.running, *self.waiting) for item in s.prompt.items]
        return max([self._token_budget, *sizes])

    def _prefill(self, sequence: Sequence, budget: int, encode_budget: int, chunks: list[Chunk]) -> tuple[int, int]:
        tokens = min(budget, sequence.length - sequence.computed)
        tokens, encode = self._fit_media(sequence, tokens, encode_budget)
        if tokens <= 0:
            return budget, encode_budget
        chunks.append(Chunk(sequence, tokens, sequence.computed, decode=False, encode=encode))
        return budget - tokens, encode_budget - sum(item.tokens for item in encode)

    def _fit_media(self, sequence: Sequence, tokens: int, budget: int) -> tuple[int, list[MediaItem]]:
        """Items to encode for this chunk; the chunk ends before the first item that the encoder budget does not hold."""
        start, end = sequence.computed, sequence.computed + tokens
        encode: list[MediaItem] = []
        for span in sequence.prompt.spans:
            if span.offset >= end:
                break
            if span.offset + span.item.tokens <= start or self.encoder_cache.touch(span.item.hash):
                continue
            if span.item in encode or span.item in sequence.encoded:
                continue
            if span.item.tokens > budget:
                return max(0, span.offset - start), encode
            budget -= span.item.tokens
            encode.append(span.item)
        return tokens, encode

    def _admit(self, sequence: Sequence) -> bool:
        """Take what the prefix cache holds and blocks for the rest of the prompt; False: not now."""
        # At least one prompt token is computed, or there would be nothing to sample from.
        usable = max(0, sequence.length - 1) // self.pool.block_size if self.pool.caching else 0
        matched = self.pool.match(sequence.hash_blocks(self._seed, sequence.length)[:usable])
        needed = -(-sequence.length // self.pool.block_size) - len(matched) + self.pool.newly_needed(matched)
        if needed > self.pool.free:
            return False
        self.pool.take(sequence.table, matched)
        self.pool.grow(sequence.table, sequence.length)
        sequence.computed = len(matched) * self.pool.block_size
        if not sequence.preemptions:
            sequence.cached_tokens = sequence.computed
        return True

    def _room(self, sequence: Sequence, tokens: int) -> bool:
        """Blocks for `tokens`, taken from the youngest running sequences if need be; False: the sequence itself was preempted."""
        while not self.pool.grow(sequence.table, tokens):
            victim = self.running[-1]
            self._preempt(victim)
            if victim is sequence:
                return False
        return True

    def _preempt(self, victim: Sequence) -> None:
        self.running.remove(victim)
        self.pool.release(victim.table)
        victim.computed = 0
        victim.preemptions += 1
        self.preempted += 1
        self.waiting.appendleft(victim)

    def settle(self, chunk: Chunk) -> None:
        """The step is over: its tokens have KV, full blocks can be found by others."""
        sequence = chunk.sequence
        sequence.computed += chunk.tokens
        for item in chunk.encode:
            self.encoder_cache.put(item.hash, item.tokens)
            sequence.encoded.append(item)
        first, full = (sequence.computed - chunk.tokens) // self.pool.block_size, sequence.computed // self.pool.block_size
        if first == full:  # most decode steps: no block became full
            return
        hashes = sequence.hash_blocks(self._seed, sequence.computed)
        for position in range(first, full):
            self.pool.remember(sequence.table, position, hashes[position])
