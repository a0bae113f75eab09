"""The default stack as processes – real Envoy, the engine, simulated model servers – with a client in front."""

import asyncio
import base64
import os
import re
import zlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from struct import pack
from typing import Any

import aiohttp

from local.clock import RealClock
from local.images import Play, Programs
from local.layout import RunSettings
from local.plan import StackPlan, plan_stack
from local.record import evaluate
from local.stack import Housekeeping, LocalStack, play

READY_SECONDS = 60
ATTEMPTS = 500
SAMPLE = re.compile(r"^([a-zA-Z_:]+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)
LABEL = re.compile(r'(\w+)="([^"]*)"')


@dataclass
class RunningStack:
    """What a test talks to."""

    plan: StackPlan
    stack: LocalStack
    client: aiohttp.ClientSession

    @property
    def pods(self) -> dict[str, str]:
        """Model servers: name → URL."""
        return {pod.name: url for pod, url in self.plan.model_servers}

    @property
    def engine_metrics(self) -> str:
        """URL of the engine's metrics page."""
        return self.plan.url.rsplit(":", 1)[0] + ":9090/metrics"

    def engine_errors(self) -> list[str]:
        """Lines of the engine's log that report an error: a fault that was survived is still a fault."""
        lines = [line for pod, _ in self.plan.engines for line in self.stack.log(pod, "epp").read_text().splitlines()]
        return [line for line in lines if '"level": "error"' in line or "Traceback" in line]

    async def chat(self, content: Any, *, headers: Mapping[str, str] | None = None, **more: Any) -> tuple[int, dict[str, Any]]:
        body = {"model": self.plan.model, "max_tokens": 4, "messages": [{"role": "user", "content": content}], **more}
        async with self.client.post(f"{self.plan.url}/v1/chat/completions", json=body, headers=headers) as response:
            return response.status, await response.json()

    async def samples(self, url: str, name: str) -> list[tuple[dict[str, str], float]]:
        """Series of one metric on a page: labels and value."""
        async with self.client.get(url) as response:
            text = await response.text()
        return [(dict(LABEL.findall(labels or "")), float(value)) for found, labels, value in SAMPLE.findall(text) if found == name]

    async def inflight(self, name: str) -> dict[str, int]:
        """`llm_d_epp_inflight_<name>` by pod, flows added up; idle pods are left out."""
        found: dict[str, int] = {}
        for labels, value in await self.samples(self.engine_metrics, f"llm_d_epp_inflight_{name}"):
            pod = next(p for p in self.pods if labels["endpoint_name"].startswith(p))
            found[pod] = found.get(pod, 0) + int(value)
        return {pod: value for pod, value in found.items() if value}

    async def eventually(self, name: str, wanted: Mapping[str, int]) -> None:
        """Wait until the books say so; fails with what they say instead."""
        found: dict[str, int] = {}
        for _ in range(ATTEMPTS):
            found = await self.inflight(name)
            if found == wanted:
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"in-flight {name}: {found}, not {wanted}")

    async def successes(self) -> dict[str, int]:
        """Finished requests of every model server."""
        return {
            pod: int(sum(value for _, value in await self.samples(f"{url}/metrics", "vllm:request_success_total")))
            for pod, url in self.pods.items()
        }

    async def journals(self) -> list[dict[str, Any]]:
        """Every request any pod received, with its pod's name."""
        entries: list[dict[str, Any]] = []
        for pod, url in self.pods.items():
            async with self.client.get(f"{url}/sim/journal") as response:
                entries += [{**entry, "pod": pod} for entry in await response.json()]
        return entries

    async def fault(self, document: Mapping[str, Any]) -> None:
        """Activate a fault on every model server."""
        for url in self.pods.values():
            async with self.client.post(f"{url}/sim/faults", json=document) as response:
                assert response.status == 200, await response.text()

    async def reset(self) -> None:
        """End faults, empty caches and journals of every model server."""
        for url in self.pods.values():
            await self.client.post(f"{url}/sim/reset")


@asynccontextmanager
async def running_stack(config: Mapping[str, Any] | None = None) -> AsyncGenerator[RunningStack]:
    """Start a stack and wait until the engine knows every pod."""
    name = f"scenario-{os.getpid()}"  # of its own, so that two sessions have different addresses
    recording = evaluate(dict(config or {}), stack=name, secrets={"huggingFaceToken": "not-a-token"})
    plan = plan_stack(name, recording.objects, limit=4, model=recording.exports.get("model"))
    settings = RunSettings(programs=Programs.find(), play=Play(sim_profile="fast"), scale=0.1)
    house = Housekeeping(clock=RealClock(), hurry=asyncio.Event())
    async with play(plan, settings, house) as stack, aiohttp.ClientSession() as client:
        await stack.wait_ready(READY_SECONDS)
        running = RunningStack(plan, stack, client)
        for _ in range(ATTEMPTS):
            ready = await running.samples(running.engine_metrics, "llm_d_epp_ready_endpoints")
            if ready and ready[0][1] == len(running.pods):
                break
            await asyncio.sleep(0.02)
        yield running


def png(width: int, height: int, seed: int = 0) -> str:
    """A data URL of a picture whose content depends on `seed`."""
    row = b"\0" + bytes((seed % 256, seed // 256 % 256, 7)) * width
    chunks = (
        (b"IHDR", pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(row * height)),
        (b"IEND", b""),
    )
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        pack(">I", len(body)) + kind + body + pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
    return "data:image/png;base64," + base64.b64encode(data).decode()


def image(width: int, height: int, seed: int = 0) -> dict[str, Any]:
    """A content part with such a picture."""
    return {"type": "image_url", "image_url": {"url": png(width, height, seed)}}


def words(text: str) -> dict[str, Any]:
    """A text part."""
    return {"type": "text", "text": text}
