"""Counters that a program publishes in Prometheus' text form: read, summed, compared."""

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import aiohttp

SAMPLE = re.compile(r"^(?P<name>[A-Za-z_:][\w:]*)(?:\{(?P<labels>[^}]*)\})?\s+(?P<value>\S+)", re.MULTILINE)
LABEL = re.compile(r'(?P<key>\w+)="(?P<value>(?:[^"\\]|\\.)*)"')
TIMEOUT_SECONDS = 5.0
FINISHED = ("stop", "length")  # the reasons with which a request counts as served; an aborted one has not answered anybody


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """What one model server has counted since it started."""

    requests: float = 0
    prefix_hits: float = 0
    prefix_queries: float = 0
    media_hits: float = 0
    media_queries: float = 0
    running: float = 0
    waiting: float = 0

    def since(self, earlier: "Counters") -> "Counters":
        """What came in between; gauges are the later ones."""
        return Counters(
            requests=self.requests - earlier.requests,
            prefix_hits=self.prefix_hits - earlier.prefix_hits,
            prefix_queries=self.prefix_queries - earlier.prefix_queries,
            media_hits=self.media_hits - earlier.media_hits,
            media_queries=self.media_queries - earlier.media_queries,
            running=self.running,
            waiting=self.waiting,
        )


def samples(text: str, wanted: Iterable[str]) -> list[tuple[str, dict[str, str], float]]:
    """Name, labels and value of each sample of the wanted families."""
    names = frozenset(wanted)
    return [
        (match["name"], {label["key"]: label["value"] for label in LABEL.finditer(match["labels"] or "")}, float(match["value"]))
        for match in SAMPLE.finditer(text)
        if match["name"] in names
    ]


def read_counters(text: str) -> Counters:
    """The counters in what a vLLM server publishes. Series of several engines in one process are summed."""
    totals = dict.fromkeys(FAMILIES, 0.0)
    for name, labels, value in samples(text, FAMILIES):
        if labels.get("finished_reason", "stop") in FINISHED:
            totals[name] += value
    return Counters(**{field: totals[family] for family, field in FAMILIES.items()})


FAMILIES: Mapping[str, str] = {
    "vllm:request_success_total": "requests",
    "vllm:prefix_cache_hits_total": "prefix_hits",
    "vllm:prefix_cache_queries_total": "prefix_queries",
    "vllm:mm_cache_hits_total": "media_hits",
    "vllm:mm_cache_queries_total": "media_queries",
    "vllm:num_requests_running": "running",
    "vllm:num_requests_waiting": "waiting",
}


async def fetch_text(session: aiohttp.ClientSession, url: str) -> str | None:
    """The text at `url`, or None when it cannot be had now."""
    try:
        async with session.get(url, timeout=aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)) as response:
            return await response.text() if response.status == 200 else None
    except (aiohttp.ClientError, TimeoutError, OSError):
        return None


async def fetch_all(session: aiohttp.ClientSession, urls: Mapping[str, str]) -> dict[str, str | None]:
    """The texts at several URLs, by their keys, all asked at once."""
    async with asyncio.TaskGroup() as group:
        tasks = {key: group.create_task(fetch_text(session, url)) for key, url in urls.items()}
    return {key: task.result() for key, task in tasks.items()}
