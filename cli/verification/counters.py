"""The counters of a stack's model servers, read directly or through the API server as the guide does."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Protocol

import aiohttp

from local.counters import Counters, fetch_all, read_counters

CONTAINER = PORT = "modelserver"


class CounterError(Exception):
    """The counters of a pod cannot be read."""


class CounterSource(Protocol):
    """Where counters come from."""

    async def read(self) -> Mapping[str, Counters]:
        """The counters of every pod by its name. Raises CounterError when one does not answer."""
        ...


class DirectCounters:
    """Reads `/metrics` of pods that can be reached from here."""

    def __init__(self, session: aiohttp.ClientSession, pods: Mapping[str, str]) -> None:
        self._session = session
        self._urls = {name: url if url.endswith("/metrics") else f"{url.rstrip('/')}/metrics" for name, url in pods.items()}

    async def read(self) -> Mapping[str, Counters]:
        """Ask every pod at once."""
        texts = await fetch_all(self._session, self._urls)
        silent = [f"{name} ({self._urls[name]})" for name, text in texts.items() if text is None]
        if silent:
            raise CounterError(f"no counters from {', '.join(silent)}")
        return {name: read_counters(text) for name, text in texts.items() if text is not None}


class KubectlCounters:
    """Reads `/metrics` of the selected pods through the API server's proxy with `kubectl`, so no port-forward is needed."""

    def __init__(self, namespace: str, selector: str, kubectl: str = "kubectl") -> None:
        self._namespace = namespace
        self._selector = selector
        self._kubectl = kubectl

    async def read(self) -> Mapping[str, Counters]:
        """List the pods, then read each one on its model server's port."""
        listing: Any = json.loads(await self._run("get", "pods", "-n", self._namespace, "-l", self._selector, "-o", "json"))
        ports = {pod["metadata"]["name"]: _port(pod) for pod in listing["items"]}
        if not ports:
            raise CounterError(f"no pod in namespace {self._namespace} has labels {self._selector}")
        async with asyncio.TaskGroup() as group:
            tasks = {name: group.create_task(self._metrics(name, port)) for name, port in ports.items()}
        texts = {name: task.result() for name, task in tasks.items()}
        for text in texts.values():
            if isinstance(text, CounterError):
                raise text
        return {name: read_counters(text) for name, text in texts.items() if isinstance(text, str)}

    async def _metrics(self, pod: str, port: int) -> str | CounterError:
        """The text of one pod; the error comes back as a value, so that the others are read to their end."""
        try:
            return await self._run("get", "--raw", f"/api/v1/namespaces/{self._namespace}/pods/{pod}:{port}/proxy/metrics")
        except CounterError as error:
            return error

    async def _run(self, *words: str) -> str:
        try:
            process = await asyncio.create_subprocess_exec(
                self._kubectl, *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
            )
        except FileNotFoundError:
            raise CounterError("kubectl is not installed; give the pods' addresses with --pod NAME=URL instead") from None
        output, complaint = await process.communicate()
        if process.returncode != 0:
            raise CounterError(f"kubectl {' '.join(words[:2])}: {complaint.decode(errors='replace').strip()}")
        return output.decode()


def _port(pod: Mapping[str, Any]) -> int:
    """The port named `modelserver` of the container of that name: behind a routing sidecar it is not the pool's."""
    for container in pod["spec"]["containers"]:
        if container["name"] == CONTAINER:
            for port in container.get("ports") or []:
                if port.get("name") == PORT:
                    return port["containerPort"]
    raise CounterError(f"pod {pod['metadata']['name']} has no container {CONTAINER} with a port {PORT}")
