"""Follows one kind of object: list, then watch from there, again and again whatever happens in between."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from router.kube.client import KubeError

WATCH_SECONDS = 300  # the server ends a watch after this long, so that a silent dead connection is noticed
SILENCE_SECONDS = 30.0  # beyond which a watch that should have ended is given up
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.1, 10.0
DOUBLINGS = 10  # enough to reach the longest pause; a power of all failures of a long night is too large for a float
GONE = 410  # the version to go on from is too old

Object = Mapping[str, Any]
Sleep = Callable[[float], Awaitable[None]]

_log = logging.getLogger(__name__)


class Calls(Protocol):
    """What a watcher needs of the API server; `router.kube.client.KubeClient` is the real one."""

    async def get(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        """A JSON object. Raises KubeError."""
        ...

    def lines(self, path: str, query: Mapping[str, str], idle_seconds: float) -> AsyncIterator[dict[str, Any]]:
        """Objects of a stream. Raises KubeError."""
        ...


class Follower(Protocol):
    """Who wants to know."""

    def listed(self, objects: Sequence[Object]) -> None:
        """All objects there are; any other one is gone."""
        ...

    def changed(self, found: Object) -> None:
        """An object was added or changed."""
        ...

    def deleted(self, found: Object) -> None:
        """An object is gone; this is its last state."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """Which objects."""

    path: str  # such as /api/v1/namespaces/default/pods
    query: Mapping[str, str]  # label or field selector


class Watcher:
    """Keeps a follower current until cancelled."""

    def __init__(self, calls: Calls, collection: Collection, follower: Follower, *, random: Random, sleep: Sleep = asyncio.sleep) -> None:
        self._calls = calls
        self._collection = collection
        self._follower = follower
        self._random = random
        self._sleep = sleep
        self._version = ""  # where to go on; empty: list first
        self._failures = 0  # in a row
        self._problem = ""

    async def run(self) -> None:
        """Follow for ever. Faults are logged once per change and tried again with growing pauses."""
        while True:
            try:
                if not self._version:
                    await self._list()
                quiet = await self._watch()
            except KubeError as error:
                await self._recover(error)
            else:
                if quiet:
                    await self._sleep(FIRST_PAUSE_SECONDS)

    async def _list(self) -> None:
        found = await self._calls.get(self._collection.path, self._collection.query)
        self._follower.listed(found.get("items") or [])
        self._version = str(_metadata(found).get("resourceVersion") or "0")
        self._well()

    async def _watch(self) -> bool:
        """Events until the server ends the watch; True: there were none."""
        query = {
            **self._collection.query,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": str(WATCH_SECONDS),
        }
        quiet = True
        async for event in self._calls.lines(self._collection.path, query, WATCH_SECONDS + SILENCE_SECONDS):
            self._take(event)
            self._well()
            quiet = False
        return quiet

    def _take(self, event: Object) -> None:
        kind, found = event.get("type"), event.get("object") or {}
        if kind == "ERROR":
            raise KubeError(f"watch failed: {found.get('message', found)}", int(found.get("code") or 500))
        if kind in {"ADDED", "MODIFIED"}:
            self._follower.changed(found)
        elif kind == "DELETED":
            self._follower.deleted(found)
        self._version = str(_metadata(found).get("resourceVersion") or self._version)  # bookmarks carry nothing else

    async def _recover(self, error: KubeError) -> None:
        """After an interruption the watch goes on where it was; after an answer that refuses it, everything is listed again."""
        if error.status:
            self._version = ""
        first_gone = error.status == GONE and not self._failures
        self._failures += 1
        if first_gone:
            return
        if str(error) != self._problem:
            self._problem = str(error)
            _log.warning("objects cannot be followed", extra={"fields": {"path": self._collection.path, "problem": self._problem}})
        longest = min(FIRST_PAUSE_SECONDS * 2 ** min(self._failures, DOUBLINGS), LONGEST_PAUSE_SECONDS)
        await self._sleep(longest * (0.5 + self._random.random() / 2))

    def _well(self) -> None:
        if self._problem:
            _log.info("objects are followed again", extra={"fields": {"path": self._collection.path}})
        self._failures, self._problem = 0, ""


def _metadata(found: Object) -> Object:
    return found.get("metadata") or {}
