"""Chat and text completions, streamed and not."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec
from aiohttp import web

from simulator.api import answers, bodies, shapes
from simulator.api.bodies import Generation, RawItem
from simulator.cache.media import MediaCache
from simulator.clock import Clock
from simulator.engine.loop import Engine
from simulator.errors import ApiError
from simulator.media import Fetcher, MediaItem, look
from simulator.options import Options
from simulator.prompt import Part, Prompt, from_messages
from simulator.sequence import Sequence
from simulator.tokens import text

SSE = "text/event-stream; charset=utf-8"
INLINE_LOOK_LIMIT = 4  # media items looked at concurrently, as vLLM's processor pool


@dataclass(frozen=True, slots=True)
class Running:
    """A request whose sequences are queued."""

    identity: shapes.Identity
    generation: Generation
    prompts: list[Prompt]
    sequences: list[Sequence]  # one a choice
    chat: bool


class Generator:
    """Turns bodies into sequences and sequences into answers."""

    def __init__(self, options: Options, engine: Engine, clock: Clock, fetcher: Fetcher | None) -> None:
        self.options, self.engine, self.clock = options, engine, clock
        self.processor_cache = MediaCache[MediaItem](options.mm_processor_cache_gb * 2**30)
        self.vocabulary = text.Detokenizer()
        self._fetcher = fetcher
        self._looking = asyncio.Semaphore(INLINE_LOOK_LIMIT)

    async def start(self, body: Mapping[str, Any], request_id: str, *, chat: bool, entry: dict[str, Any]) -> Running:
        """Check a body, look at its media, queue its sequences. Raises ApiError."""
        generation = bodies.chat(body, self.options) if chat else bodies.completions(body)
        model = bodies.check_model(body.get("model"), self.options)
        self._check_queue()
        prompts = [await self.chat_prompt(generation, entry)] if chat else [self._text_prompt(p) for p in generation.prompts]
        identity = shapes.Identity(f"{'chatcmpl' if chat else 'cmpl'}-{request_id or os.urandom(8).hex()}", int(self.clock.wall()), model)
        sequences: list[Sequence] = []
        for prompt in prompts:
            limit = self._limit(prompt, generation)
            answer = answers.compose(generation, prompt, prompt.items, self.options)
            for _ in range(generation.sampling.n):
                sequences.append(self.engine.submit(prompt, max_tokens=limit, answer=answer, salt=generation.cache_salt))
        self.engine.counters.histograms["request_params_n"].observe(generation.sampling.n)
        return Running(identity, generation, prompts, sequences, chat)

    async def chat_prompt(self, generation: Generation, entry: dict[str, Any]) -> Prompt:
        """The prompt of a chat, media looked at and counted."""
        self._check_length(sum(text.at_least(m.text) for m in generation.messages))
        messages: list[tuple[str, list[Part]]] = []
        if generation.tools:
            messages.append(("system", [Part(generation.tools)]))
        for message in generation.messages:
            parts = [Part(p) if isinstance(p, str) else Part(item=await self._item(p, generation, entry)) for p in message.parts]
            messages.append((message.role, parts))
        prompt = from_messages(messages, self.vocabulary, generation_prompt=generation.generation_prompt)
        self._check_length(len(prompt.tokens))
        return prompt

    async def _item(self, raw: RawItem, generation: Generation, entry: dict[str, Any]) -> MediaItem:
        item = await self._looked(raw, generation)
        counters = self.engine.counters
        counters.mm_queries += 1
        hit = self.processor_cache.touch(item.hash)
        counters.mm_hits += hit
        self.processor_cache.put(item.hash, item.processed_bytes, item if raw.uuid else None)
        entry.setdefault("media", []).append({"kind": item.kind, "hash": item.hash, "tokens": item.tokens, "processor_hit": hit})
        return item

    async def _looked(self, raw: RawItem, generation: Generation) -> MediaItem:
        """The item behind a part; one that is named only must have been here before."""
        if not raw.url:
            known = self.processor_cache.item(raw.uuid)
            if known is None:
                index = generation.media.index(raw)
                raise ApiError(400, f"Cache miss for {raw.kind} at index {index} but data is not provided.")
            return known
        async with self._looking:
            fetcher = self._fetcher if self.options.media == "fetch" else None
            item = await look(raw, self.options, fetcher, generation.mm_processor_kwargs)
            if item.source == "url" and self.options.profile.media_fetch_latency:
                await self.clock.sleep(self.options.profile.media_fetch_latency * self.options.time_scale)
            return item

    def _text_prompt(self, words: str | tuple[int, ...]) -> Prompt:
        prompt = Prompt()
        if isinstance(words, str):
            self._check_length(text.at_least(words))
            prompt.add_text(words, self.vocabulary)
        else:
            prompt.add_special(*words)
        self._check_length(len(prompt.tokens))
        if not prompt.tokens:
            raise ApiError(400, "Either prompt or prompt_embeds must be provided and non-empty.")
        return prompt

    def _check_length(self, tokens: int) -> None:
        if tokens >= self.options.max_model_len:
            message = (
                f"This model's maximum context length is {self.options.max_model_len} tokens. However, your prompt contains at least "
                f"{tokens} input tokens. Please reduce the length of the input prompt."
            )
            raise ApiError(400, message, param="input_tokens")

    def _check_queue(self) -> None:
        limit = self.options.max_waiting
        if limit is not None and len(self.engine.scheduler.waiting) >= limit:
            raise ApiError(503, "The server is overloaded: too many requests are waiting.")

    def _limit(self, prompt: Prompt, generation: Generation) -> int:
        """Tokens this answer may have: clipped to the context silently, as vLLM does."""
        room = self.options.max_model_len - len(prompt.tokens)
        return min(generation.sampling.max_tokens or room, room)

    async def answer(self, running: Running) -> dict[str, Any]:
        """The whole answer, once every sequence ended. Raises ApiError when one failed."""
        choices: list[tuple[str, str]] = []
        for sequence in running.sequences:
            said: list[str] = []
            while (index := await sequence.events.get()) is not None:
                said.append(sequence.answer[index])
            _raise_if_failed(sequence)
            choices.append(("".join(said), sequence.finish_reason or "stop"))
        shape = shapes.chat_answer if running.chat else shapes.completion_answer
        return shape(running.identity, choices, self.counts(running))

    def counts(self, running: Running) -> shapes.Counts:
        """Token counts so far."""
        return shapes.Counts(
            sum(len(p.tokens) for p in running.prompts),
            sum(s.produced for s in running.sequences),
            max(s.cached_tokens for s in running.sequences),
            sum(item.tokens for p in running.prompts for item in p.items),
            self.options.enable_prompt_tokens_details,
        )

    def abandon(self, running: Running) -> None:
        """The client is gone."""
        for sequence in running.sequences:
            if sequence.finish_reason is None:
                self.engine.abort(sequence)

    async def events(self, running: Running) -> AsyncIterator[bytes]:
        """The events of a stream, `[DONE]` included. Choices come one after another."""
        identity, generation = running.identity, running.generation
        kind = "chat.completion.chunk" if running.chat else "text_completion"
        for number, sequence in enumerate(running.sequences):
            async for choice in self._choice_events(sequence, number, chat=running.chat):
                more = self._chunk_extras(running, choice)
                yield event(shapes.chunk(identity, kind, [choice], **more))
        if generation.include_usage or generation.continuous_usage:
            usage = self.counts(running).stream_usage()
            yield event(shapes.chunk(identity, kind, [], usage=usage, system_fingerprint=shapes.FINGERPRINT))
        yield b"data: [DONE]\n\n"

    def _chunk_extras(self, running: Running, choice: Mapping[str, Any]) -> dict[str, Any]:
        more: dict[str, Any] = {}
        if running.generation.continuous_usage:
            more["usage"] = self.counts(running).stream_usage()
        if choice["finish_reason"] and not running.generation.include_usage:
            more["system_fingerprint"] = shapes.FINGERPRINT
        return more

    async def _choice_events(self, sequence: Sequence, number: int, *, chat: bool) -> AsyncIterator[dict[str, Any]]:
        make = _chat_choice if chat else _text_choice
        index = await sequence.events.get()
        _raise_if_failed(sequence)
        if chat:
            yield {"index": number, "delta": {"role": "assistant", "content": ""}, "logprobs": None, "finish_reason": None}
        while index is not None:
            following = await sequence.events.get() if sequence.finish_reason is None or not sequence.events.empty() else None
            last = following is None
            if last:
                _raise_if_failed(sequence)
            yield make(number, sequence.answer[index], sequence.finish_reason if last else None)
            index = following


def _chat_choice(number: int, said: str, reason: str | None) -> dict[str, Any]:
    choice: dict[str, Any] = {"index": number, "delta": {"content": said}, "logprobs": None, "finish_reason": reason}
    return {**choice, "stop_reason": None} if reason else choice


def _text_choice(number: int, said: str, reason: str | None) -> dict[str, Any]:
    return {"index": number, "text": said, "logprobs": None, "finish_reason": reason, "stop_reason": None}


def _raise_if_failed(sequence: Sequence) -> None:
    if sequence.finish_reason == "error":
        raise ApiError(500, "Internal server error")


def event(value: Mapping[str, Any]) -> bytes:
    """One server-sent event."""
    return b"data: " + msgspec.json.encode(value) + b"\n\n"


async def stream(request: web.Request, generator: Generator, running: Running, cut_after: int | None) -> web.StreamResponse:
    """Send the events of a running request; `cut_after`: close the connection after so many."""
    response = web.StreamResponse(headers={"content-type": SSE, "server": "uvicorn"})
    events = generator.events(running)
    sent = 0
    try:
        await response.prepare(request)  # as vLLM: headers leave before the first token is there
        async for piece in events:
            if cut_after is not None and sent >= cut_after:
                close(request)
                return response
            await response.write(piece)
            sent += 1
        with suppress(ConnectionError):
            await response.write_eof()
    except ApiError as error:
        await response.write(event(error.body(generator.options.error_format)) + b"data: [DONE]\n\n")
    except ConnectionError:  # the client left in the middle, which is no fault of this server
        pass
    finally:
        generator.abandon(running)
    return response


def close(request: web.Request) -> None:
    """Drop the connection at once."""
    if request.transport is not None:
        request.transport.abort()
