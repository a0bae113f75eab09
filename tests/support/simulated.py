"""Builders for tests of the simulated model server."""

import io
import json
from base64 import b64encode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from PIL import Image

from simulator.app import Server, SimServer
from simulator.clock import Clock
from simulator.media import MediaItem
from simulator.options import Options, parse
from simulator.prompt import Prompt
from simulator.sequence import Sequence
from simulator.tokens.text import Detokenizer

MODEL = "Qwen/Qwen3-VL-32B-Instruct"
FAST = ("serve", MODEL, "--sim-profile", "fast")


def options(*flags: str) -> Options:
    return parse([*FAST, *flags], {})


def picture(colour: str | tuple[int, int, int], form: str = "PNG", *, side: int = 64, right: str | None = None) -> bytes:
    """A square of one colour, or of two halves."""
    image = Image.new("RGB", (side, side), colour)
    if right:
        image.paste(Image.new("RGB", (side // 2, side), right), (side // 2, 0))
    out = io.BytesIO()
    image.save(out, form)
    return out.getvalue()


def image_part(content: bytes, form: str = "png") -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:image/{form};base64,{b64encode(content).decode()}"}}


def chat(*parts: dict[str, Any] | str, **fields: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": p} if isinstance(p, str) else p for p in parts]
    return {"model": MODEL, "messages": [{"role": "user", "content": content}], **fields}


def item(name: str = "i", tokens: int = 8) -> MediaItem:
    return MediaItem(kind="image", hash=name, tokens=tokens, processed_bytes=100, source="data")


def text_prompt(tokens: int, first: int = 0) -> Prompt:
    return Prompt(tokens=list(range(first, first + tokens)))


def media_prompt(before: str, what: MediaItem, after: str = "") -> Prompt:
    prompt, vocabulary = Prompt(), Detokenizer()
    prompt.add_text(before, vocabulary)
    prompt.add_media(what)
    prompt.add_text(after, vocabulary)
    return prompt


def sequence(prompt: Prompt, *, answer: int = 4, max_tokens: int = 100, block_size: int = 4, salt: str = "") -> Sequence:
    return Sequence(prompt=prompt, max_tokens=max_tokens, answer=["x"] * answer, salt=salt, block_size=block_size, arrived=0.0)


@asynccontextmanager
async def served(*flags: str, clock: Clock | None = None) -> AsyncGenerator[tuple[Server, aiohttp.ClientSession], None]:
    """A running server and a client for its paths."""
    async with SimServer([*FAST, *flags], clock) as server, aiohttp.ClientSession(server.url) as client:
        yield server, client


async def counter(client: aiohttp.ClientSession, name: str) -> float:
    """Sum of a metric's series."""
    async with client.get("/metrics") as response:
        lines = (await response.text()).splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name))


async def events(response: aiohttp.ClientResponse) -> list[Any]:
    """The events of a stream, decoded; `[DONE]` as a string."""
    pieces = (await response.text()).split("\n\n")
    assert pieces.pop() == ""
    return [piece if piece == "data: [DONE]" else json.loads(piece.removeprefix("data: ")) for piece in pieces]
