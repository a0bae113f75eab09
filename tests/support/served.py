"""A stack as its clients see it, in one small server: names colours, counts as vLLM does, streams when asked to."""

import base64
import contextlib
import io
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web
from PIL import Image

from cli.verification.pictures import COLOURS
from tests.support.loopback import serving

PROMPT_TOKENS = 1000


@dataclass
class Served:
    """Two pods behind one URL. Fields of the second group make it misbehave."""

    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    counts: dict[str, dict[str, float]] = field(default_factory=lambda: {"one": {}, "two": {}})
    seen: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    alternate: bool = False  # sends each request to another pod
    forgetful: bool = False  # caches nothing
    colour_blind: bool = False
    lossy: bool = False  # counts nothing
    mute_streams: bool = False
    status: int = 200

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """One chat completion."""
        body = json.loads(await request.read())
        self.requests.append(body)
        self.headers.append({key.lower(): value for key, value in request.headers.items()})
        if self.status != 200:
            return web.json_response({"error": {"message": "no", "code": self.status}}, status=self.status)
        prompt = json.dumps(body["messages"])
        self._count("one" if not self.alternate or len(self.requests) % 2 else "two", prompt, _pictures(body))
        text = await self._answer(body)
        return await self._stream(request, text) if body.get("stream") else _whole(text)

    async def models(self, _request: web.Request) -> web.Response:
        """The list of served models."""
        return web.json_response({"object": "list", "data": [{"id": "tiny/model"}]})

    def page(self, pod: str) -> str:
        """A pod's metrics."""
        counts = self.counts[pod]
        return "".join(f'{name}{{engine="0",finished_reason="stop"}} {counts.get(name, 0)}\n' for name in FAMILIES)

    async def _answer(self, body: dict[str, Any]) -> str:
        pictures = _pictures(body)
        if not pictures or self.colour_blind:
            return "I cannot tell."
        return f"The image is {await _colour(pictures[0])}."

    def _count(self, pod: str, prompt: str, pictures: list[str]) -> None:
        if self.lossy:
            return
        counts = self.counts[pod]
        grown = {"vllm:request_success_total": 1.0, "vllm:mm_cache_queries_total": float(len(pictures))}
        if (pod, prompt) in self.seen and not self.forgetful:
            grown |= {"vllm:prefix_cache_hits_total": PROMPT_TOKENS - 8.0}
            grown |= {"vllm:mm_cache_hits_total": float(len(pictures))}
        self.seen.add((pod, prompt))
        for name, value in grown.items():
            counts[name] = counts.get(name, 0) + value

    async def _stream(self, request: web.Request, text: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        events: list[Any] = [{"choices": [{"delta": {"content": f"{word} "}}]} for word in text.split()]
        events.append({"choices": [], "usage": {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": len(events)}})
        lines = [json.dumps(event) for event in events] + ([] if self.mute_streams else ["[DONE]"])
        await response.write("".join(f"data: {line}\n\n" for line in lines).encode())
        await response.write_eof()
        return response


FAMILIES = (
    "vllm:request_success_total",
    "vllm:prefix_cache_queries_total",
    "vllm:prefix_cache_hits_total",
    "vllm:mm_cache_queries_total",
    "vllm:mm_cache_hits_total",
)


@contextlib.asynccontextmanager
async def served(state: Served | None = None) -> AsyncGenerator[tuple[Served, str]]:
    """Serve a stack; yields it and its URL. The pods' metrics are at `/one/metrics` and `/two/metrics`."""
    stack = state or Served()

    async def one(_request: web.Request) -> web.Response:
        return web.Response(text=stack.page("one"))

    async def two(_request: web.Request) -> web.Response:
        return web.Response(text=stack.page("two"))

    handlers = {"/v1/chat/completions": stack.chat, "/v1/models": stack.models, "/one/metrics": one, "/two/metrics": two}
    async with serving(handlers) as url:
        yield stack, url


def _whole(text: str) -> web.Response:
    usage = {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": len(text.split())}
    return web.json_response({"choices": [{"message": {"role": "assistant", "content": text}}], "usage": usage})


def _pictures(body: dict[str, Any]) -> list[str]:
    content = body["messages"][0]["content"]
    return [part["image_url"]["url"] for part in content if part["type"] == "image_url"] if isinstance(content, list) else []


async def _colour(url: str) -> str:
    if url.startswith("data:"):
        content = base64.b64decode(url.partition(",")[2])
    else:
        async with aiohttp.ClientSession() as session, session.get(url) as response:
            content = await response.read()
    pixel = Image.open(io.BytesIO(content)).convert("RGB").getpixel((5, 5))
    assert isinstance(pixel, tuple)
    return min(COLOURS, key=lambda name: sum((a - b) ** 2 for a, b in zip(COLOURS[name], pixel, strict=True)))
