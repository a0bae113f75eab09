"""Polls every endpoint and lets extractors read what came. The only scraper of the process."""

import asyncio
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from router.engine.datalayer.endpoints import Endpoints
from router.engine.datalayer.pace import Pace
from router.framework.collecting import DataSource, Extractor, Target
from router.framework.endpoint import LiveEndpoint
from router.framework.errors import RouterError
from router.framework.plugin import Clock
from router.metrics.datalayer import DatalayerMetrics

POLL_TIMEOUT_SECONDS = 1.0
GROUP_SIZE = 16  # pages read in one go: about two milliseconds

Source = tuple[DataSource, tuple[Extractor, ...]]

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


@dataclass(slots=True, eq=False)
class _Poll:
    """One source of one endpoint, and what was last logged of it, so that a lasting fault is one line."""

    endpoint: LiveEndpoint
    source: DataSource
    extractors: tuple[Extractor, ...]
    target: Target
    due: float = -math.inf
    running: bool = False
    problem: str = ""
    unread: dict[str, str] = field(default_factory=dict[str, str])  # by extractor


class Collector:
    """Keeps the metrics of all endpoints current. Old values stay when a poll fails.

    Endpoints are polled in groups, group after group within a tick: to wake up costs as much as to read a page, and reading all
    pages of a large pool at once would hold up requests.
    """

    def __init__(self, endpoints: Endpoints, sources: Sequence[Source], pace: Pace, around: Surroundings) -> None:
        self._endpoints = endpoints
        self._sources = tuple(sources)
        self._pace = pace
        self._around = around
        self._members: tuple[LiveEndpoint, ...] = ()
        self._polls: list[_Poll] = []

    async def run(self) -> None:
        """Poll until cancelled; returns at once when no source is configured."""
        if not self._sources:
            return
        async with asyncio.TaskGroup() as group:
            slot, at = 0, self._around.clock()
            while True:
                self._follow_members()
                slots = max(1, math.ceil(len(self._polls) / GROUP_SIZE))
                tick = self._pace.tick(len(self._members))
                now = self._around.clock()
                for poll in self._polls[slot % slots :: slots]:
                    if not poll.running and poll.due <= now + tick / 2:
                        poll.running = True
                        poll.due = now + self._pace.seconds_between(poll.source.interval_seconds)
                        group.create_task(self._poll(poll))
                slot += 1
                at = max(at + tick / slots, now)
                await self._pace.wait(at - now)

    def _follow_members(self) -> None:
        """Start with what came, forget what is gone."""
        members = self._endpoints.all()
        if members is self._members:
            return
        kept = set(members)
        for poll in self._polls:
            if poll.endpoint not in kept:
                self._around.fetcher.drop(poll.target)
        known = {poll.endpoint for poll in self._polls}
        self._polls = [poll for poll in self._polls if poll.endpoint in kept]
        self._polls += [
            _Poll(endpoint, source, extractors, source.target(endpoint))
            for endpoint in members
            if endpoint not in known
            for source, extractors in self._sources
        ]
        self._members = members

    async def _poll(self, poll: _Poll) -> None:
        try:
            await self._fetch(poll)
        finally:
            poll.running = False

    async def _fetch(self, poll: _Poll) -> None:
        problem, body = "", b""
        try:
            async with asyncio.timeout(POLL_TIMEOUT_SECONDS):
                body = await self._around.fetcher.get(poll.target)
        except TimeoutError:
            problem = f"no answer within {POLL_TIMEOUT_SECONDS:g} s"
        except RouterError as error:
            problem = str(error)
        except Exception as error:  # one turn of a background loop: the loop goes on
            problem = repr(error)
        if self._endpoints.get(poll.endpoint.metadata.id) is not poll.endpoint:
            return
        if problem:
            self._around.metrics.poll_failed(poll.source.type_name)
        for extractor in () if problem else poll.extractors:
            self._extract(poll, extractor, body)
        if problem != poll.problem:
            poll.problem = problem
            _report("endpoint cannot be polled" if problem else "endpoint is polled again", poll, poll.target.url, problem)

    def _extract(self, poll: _Poll, extractor: Extractor, body: bytes) -> None:
        try:
            unread = "; ".join(extractor.extract(body, poll.endpoint))
        except Exception as error:  # one turn of a background loop: the loop goes on
            unread = repr(error)
        if unread:
            self._around.metrics.extract_failed(poll.source.type_name, extractor.type_name)
        if unread != poll.unread.get(extractor.name, ""):
            poll.unread[extractor.name] = unread
            _report("page could not be read in full" if unread else "page is read in full again", poll, extractor.name, unread)


def _report(message: str, poll: _Poll, what: str, problem: str) -> None:
    fields = {"endpoint": poll.endpoint.metadata.id, "of": what, **({"problem": problem} if problem else {})}
    _log.log(logging.WARNING if problem else logging.INFO, message, extra={"fields": fields})
