"""Polls every endpoint and lets extractors read what came. The only scraper of the process."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

from router.engine.datalayer.endpoints import Endpoints
from router.engine.datalayer.pace import Pace
from router.framework.collecting import DataSource, Extractor, Target
from router.framework.endpoint import LiveEndpoint
from router.framework.errors import RouterError
from router.framework.plugin import Clock
from router.metrics.datalayer import DatalayerMetrics

POLL_TIMEOUT_SECONDS = 1.0

Source = tuple[DataSource, tuple[Extractor, ...]]
Sleep = Callable[[float], Awaitable[None]]

_log = logging.getLogger(__name__)


class Fetches(Protocol):
    """Gets pages; `router.fetch.Fetcher` is the real one."""

    async def get(self, target: Target) -> bytes:
        """The page. Raises RouterError."""
        ...

    def drop(self, target: Target) -> None:
        """Forget what is kept for a target."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The process as the collector sees it."""

    fetcher: Fetches
    metrics: DatalayerMetrics
    clock: Clock
    random: Random
    sleep: Sleep = asyncio.sleep


@dataclass(slots=True)
class _Health:
    """What was last logged of one endpoint and one source, so that a lasting fault is one line."""

    problem: str = ""
    unread: dict[str, str] = field(default_factory=dict[str, str])  # by extractor


class Collector:
    """Keeps the metrics of all endpoints current. Old values stay when a poll fails."""

    def __init__(self, endpoints: Endpoints, sources: Sequence[Source], pace: Pace, around: Surroundings) -> None:
        self._endpoints = endpoints
        self._sources = tuple(sources)
        self._pace = pace
        self._around = around

    async def run(self) -> None:
        """Poll until cancelled; returns at once when no source is configured."""
        if not self._sources:
            return
        async with asyncio.TaskGroup() as group:
            followed: dict[LiveEndpoint, list[asyncio.Task[None]]] = {}
            seen: tuple[LiveEndpoint, ...] | None = None
            while True:
                members = self._endpoints.all()
                if members is not seen:
                    self._reconcile(group, followed, members)
                    seen = members
                await self._around.sleep(self._pace.tick(0))

    def _reconcile(
        self, group: asyncio.TaskGroup, followed: dict[LiveEndpoint, list[asyncio.Task[None]]], members: Sequence[LiveEndpoint]
    ) -> None:
        for gone in followed.keys() - set(members):
            for task in followed.pop(gone):
                task.cancel()
        for endpoint in members:
            if endpoint not in followed:
                followed[endpoint] = [group.create_task(self._follow(endpoint, source)) for source in self._sources]

    async def _follow(self, endpoint: LiveEndpoint, source: Source) -> None:
        """Poll one source of one endpoint: at once, then on a grid whose phase is drawn, so that polls of a pool are spread."""
        health = _Health()
        every = self._pace.every(source[0].interval_seconds)
        target = source[0].target(endpoint)
        around = self._around
        try:
            await self._poll(endpoint, source, target, health)
            due = around.clock() + around.random.random() * self._interval(every)
            while True:
                await around.sleep(max(due - around.clock(), 0.0))
                await self._poll(endpoint, source, target, health)
                due = max(due + self._interval(every), around.clock())
        finally:
            around.fetcher.drop(target)

    def _interval(self, every: int) -> float:
        return every * self._pace.tick(len(self._endpoints.all()))

    async def _poll(self, endpoint: LiveEndpoint, source: Source, target: Target, health: _Health) -> None:
        problem = ""
        body = b""
        try:
            async with asyncio.timeout(POLL_TIMEOUT_SECONDS):
                body = await self._around.fetcher.get(target)
        except TimeoutError:
            problem = f"no answer within {POLL_TIMEOUT_SECONDS:g} s"
        except RouterError as error:
            problem = str(error)
        except Exception as error:  # one turn of a background loop: the loop goes on
            problem = repr(error)
        if problem:
            self._around.metrics.poll_failed(source[0].type_name)
        else:
            for extractor in source[1]:
                self._extract(extractor, body, endpoint, source[0], health)
        if problem != health.problem:
            health.problem = problem
            _report("endpoint cannot be polled" if problem else "endpoint is polled again", endpoint, target.url, problem)

    def _extract(self, extractor: Extractor, body: bytes, endpoint: LiveEndpoint, source: DataSource, health: _Health) -> None:
        try:
            unread = "; ".join(extractor.extract(body, endpoint))
        except Exception as error:  # one turn of a background loop: the loop goes on
            unread = repr(error)
        if unread:
            self._around.metrics.extract_failed(source.type_name, extractor.type_name)
        if unread != health.unread.get(extractor.name, ""):
            health.unread[extractor.name] = unread
            _report("page could not be read in full" if unread else "page is read in full again", endpoint, extractor.name, unread)


def _report(message: str, endpoint: LiveEndpoint, what: str, problem: str) -> None:
    fields = {"endpoint": endpoint.metadata.id, "of": what, **({"problem": problem} if problem else {})}
    _log.log(logging.WARNING if problem else logging.INFO, message, extra={"fields": fields})
