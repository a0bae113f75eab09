"""A small Kubernetes API server: list and watch of any collection, reviews, and whatever odd events a test wants to send."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

PODS = "/api/v1/namespaces/default/pods"
POOLS = "/apis/inference.networking.k8s.io/v1/namespaces/default/inferencepools"


def pod(name: str = "a", *, ip: str | None = "10.0.0.1", ready: bool = True, uid: str = "1", **metadata: Any) -> dict[str, Any]:
    """A pod as the API server shows it; keyword arguments go into its metadata."""
    labels = {"app": "x"}
    return {
        "metadata": {"name": name, "namespace": "default", "uid": uid, "labels": labels, **metadata},
        "status": {"podIP": ip, "hostIP": "192.168.0.1", "conditions": [{"type": "Ready", "status": "True" if ready else "False"}]},
    }


def pool(*ports: int, name: str = "p", labels: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """An InferencePool."""
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": dict(labels or {"app": "x"})},
            "targetPorts": [{"number": port} for port in ports or (8000,)],
            **spec,
        },
    }


class ApiServer:
    """Holds objects by collection. Changes reach open watches as events; `send` sends anything else."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[tuple[str, Mapping[str, str]]] = []
        self.tokens: list[str] = []
        self.statuses: dict[str, list[int]] = {}  # collection -> answers to give instead, one a request
        self.reviews: dict[str, Mapping[str, Any]] = {}  # last part of a path -> status of the answer
        self._version = 100
        self._history: list[tuple[int, str, bytes]] = []
        self._objects: dict[str, dict[str, dict[str, Any]]] = {}
        self._watches: dict[str, list[asyncio.Queue[bytes | None]]] = {}
        self._opened = asyncio.Condition()

    def put(self, collection: str, found: Mapping[str, Any]) -> None:
        """Add or change an object."""
        held = self._objects.setdefault(collection, {})
        name = found["metadata"]["name"]
        kind = "MODIFIED" if name in held else "ADDED"
        held[name] = self._versioned(found)
        self._record(collection, kind, held[name])

    def delete(self, collection: str, name: str) -> None:
        """Delete an object."""
        gone = self._objects[collection].pop(name)
        self._record(collection, "DELETED", self._versioned(gone))

    def forget(self, collection: str, name: str) -> None:
        """Delete an object without telling open watches, as if the event were lost."""
        del self._objects[collection][name]

    def event(self, collection: str, kind: str, found: Mapping[str, Any]) -> None:
        """Send an event to open watches."""
        self.send(collection, _line(kind, found))

    def send(self, collection: str, data: bytes | None) -> None:
        """Send bytes to open watches; None ends them."""
        for queue in self._watches.get(collection, []):
            queue.put_nowait(data)

    async def watched(self, collection: str, times: int = 1) -> None:
        """Wait until the collection was watched so many times since the start."""
        async with self._opened:
            await self._opened.wait_for(lambda: self.watches(collection) >= times)

    def watches(self, collection: str) -> int:
        """How often the collection was watched."""
        return sum(1 for path, query in self.requests if path == collection and "watch" in query)

    def lists(self, collection: str) -> int:
        """How often the collection was listed."""
        return sum(1 for path, query in self.requests if path == collection and "watch" not in query)

    @asynccontextmanager
    async def run(self) -> AsyncGenerator["ApiServer"]:
        """Serve on a free loopback port."""
        application = web.Application()
        application.router.add_get("/{path:.*}", self._get)
        application.router.add_post("/{path:.*}", self._post)
        runner = web.AppRunner(application, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield self
        finally:
            for collection in self._watches:
                self.send(collection, None)
            await runner.cleanup()

    def _record(self, collection: str, kind: str, found: Mapping[str, Any]) -> None:
        """An event that later watches from an older version are told too."""
        self._history.append((self._version, collection, _line(kind, found)))
        self.event(collection, kind, found)

    def _versioned(self, found: Mapping[str, Any]) -> dict[str, Any]:
        self._version += 1
        return {**found, "metadata": {**found["metadata"], "resourceVersion": str(self._version)}}

    async def _get(self, request: web.Request) -> web.StreamResponse:
        path = request.path
        self.tokens.append(request.headers.get("Authorization", ""))
        self.requests.append((path, dict(request.query)))
        statuses = self.statuses.get(path)
        if statuses:
            status = statuses.pop(0)
            return web.json_response({"kind": "Status", "message": "as the test wants it", "code": status}, status=status)
        if "watch" in request.query:
            return await self._watch(request)
        items = list(self._objects.get(path, {}).values())
        return web.json_response({"metadata": {"resourceVersion": str(self._version)}, "items": items})

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        watches = self._watches.setdefault(request.path, [])
        watches.append(queue)
        since = int(request.query.get("resourceVersion") or self._version)
        for version, collection, line in self._history:
            if collection == request.path and version > since:
                queue.put_nowait(line)
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        async with self._opened:
            self._opened.notify_all()
        try:
            while (data := await queue.get()) is not None:
                await response.write(data)
        finally:
            watches.remove(queue)
        return response

    async def _post(self, request: web.Request) -> web.StreamResponse:
        self.requests.append((request.path, {}))
        kind = request.path.rpartition("/")[2]
        if kind not in self.reviews:
            return web.json_response({"message": "no such thing"}, status=404)
        return web.json_response({"status": self.reviews[kind], "asked": await request.json()}, status=201)


def _line(kind: str, found: Mapping[str, Any]) -> bytes:
    return json.dumps({"type": kind, "object": found}).encode() + b"\n"
