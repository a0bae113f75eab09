"""The engine: steps as long as there is work, one wait a step, then tokens to everybody concerned."""

import asyncio
from collections.abc import Callable
from hashlib import sha256
from random import Random

from simulator.cache.blocks import BlockPool
from simulator.cache.media import MediaCache
from simulator.clock import Clock
from simulator.engine.scheduler import Scheduler
from simulator.media import MediaItem
from simulator.metrics.counters import Counters
from simulator.options import Options
from simulator.prompt import Prompt
from simulator.sequence import Chunk, Sequence
from simulator.tokens.text import VOCABULARY

ENCODER_CACHE_STEPS = 4  # times the encoder budget
JITTER_LIMIT = 0.7


class Engine:
    """One model runner. `run` is its loop; everything else is synchronous."""

    def __init__(self, options: Options, clock: Clock, counters: Counters, slowdown: Callable[[], float | None]) -> None:
        """`slowdown` gives the factor of active faults; None stops the engine."""
        self.options, self.clock, self.counters = options, clock, counters
        self.pool = BlockPool(count=options.num_gpu_blocks, block_size=options.block_size, caching=options.enable_prefix_caching)
        self.encoder_cache = MediaCache[MediaItem](ENCODER_CACHE_STEPS * options.max_num_batched_tokens * 2)
        self.scheduler = Scheduler(
            pool=self.pool,
            encoder_cache=self.encoder_cache,
            max_sequences=options.max_num_seqs,
            token_budget=options.max_num_batched_tokens,
            seed=sha256(f"{options.hash_seed}\0{options.model}".encode()).digest(),
        )
        self._random = Random(options.seed)  # noqa: S311 - jitter
        self._slowdown = slowdown
        self._work = asyncio.Event()

    def submit(self, prompt: Prompt, *, max_tokens: int, answer: list[str], salt: str = "") -> Sequence:
        """Queue a prompt. The sequence's events end with None whatever happens."""
        sequence = Sequence(
            prompt=prompt,
            max_tokens=max_tokens,
            answer=answer,
            salt=salt,
            block_size=self.options.block_size,
            arrived=self.clock.now(),
        )
        self.scheduler.add(sequence)
        self.counters.waiting = len(self.scheduler.waiting)
        self._work.set()
        return sequence

    def abort(self, sequence: Sequence) -> None:
        """The client is gone: the sequence ends with the next step."""
        sequence.aborted = True
        self._work.set()

    async def run(self) -> None:
        """Step for ever."""
        while True:
            if self.scheduler.idle:
                self._work.clear()
                self._publish()
                await self._work.wait()
            await self._stalled()
            self._drop()
            chunks = self.scheduler.plan()
            self._start(chunks)
            self._publish()
            if not chunks and not self.scheduler.idle:
                self._refuse_oversized()
            await self.clock.sleep(self._duration(chunks))
            self._apply(chunks)
            self._publish()

    async def _stalled(self) -> None:
        while self._slowdown() is None:
            await self.clock.sleep(0.05)

    def _drop(self) -> None:
        for sequence in self.scheduler.drop_aborted():
            sequence.finish_reason = "abort"
            sequence.events.put_nowait(None)

    def _refuse_oversized(self) -> None:
        """A prompt that does not fit into an empty pool can never run."""
        if not self.scheduler.running and self.scheduler.waiting:
            sequence = self.scheduler.waiting.popleft()
            self._finish(sequence, "error")

    def _start(self, chunks: list[Chunk]) -> None:
        now = self.clock.now()
        for chunk in chunks:
            times = chunk.sequence.times
            if times.scheduled is None:
                times.scheduled = now
                self.counters.admitted(chunk.sequence)

    def _duration(self, chunks: list[Chunk]) -> float:
        if not chunks:
            return 0.001 if not self.scheduler.idle else 0.0
        profile = self.options.profile
        decoding = [c for c in chunks if c.decode]
        seconds = profile.floor_seconds(len(decoding), sum(c.context for c in decoding))
        seconds += sum(profile.prefill_seconds(c.tokens, c.context) for c in chunks if not c.decode)
        encode = profile.encode_seconds([item.tokens for c in chunks for item in c.encode])
        self.counters.encode_seconds += encode
        factor = self._slowdown() or 1.0
        if self.options.jitter:
            factor *= 1 + min(max(self._random.gauss(0, self.options.jitter), -JITTER_LIMIT), JITTER_LIMIT)
        return (seconds + encode) * self.options.time_scale * factor

    def _apply(self, chunks: list[Chunk]) -> None:
        now = self.clock.now()
        for chunk in chunks:
            sequence = chunk.sequence
            if sequence not in self.scheduler.running:
                continue
            self.scheduler.settle(chunk)
            self.counters.computed(chunk)
            if sequence.aborted or not sequence.prefilled:
                continue
            self._emit(sequence, now)
        if chunks:
            self.counters.step(sum(c.tokens for c in chunks))

    def _emit(self, sequence: Sequence, now: float) -> None:
        """One more token; the last one ends the sequence."""
        index = sequence.produced
        sequence.extend(index % VOCABULARY)
        self.counters.token(sequence, now)
        ended = sequence.produced >= len(sequence.answer)
        limited = sequence.produced >= sequence.max_tokens
        sequence.events.put_nowait(index)
        if ended or limited:
            self._finish(sequence, "stop" if ended and not (limited and len(sequence.answer) > sequence.max_tokens) else "length")

    def _finish(self, sequence: Sequence, reason: str) -> None:
        sequence.finish_reason = reason
        sequence.times.finished = self.clock.now()
        self.scheduler.remove(sequence)
        self.counters.finished(sequence)
        sequence.events.put_nowait(None)

    def _publish(self) -> None:
        """Gauges."""
        self.counters.waiting = len(self.scheduler.waiting)
        self.counters.running = len(self.scheduler.running)
        self.counters.kv_usage = self.pool.usage
        self.counters.preemptions = self.scheduler.preempted
