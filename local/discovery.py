"""The engine's list of endpoints on this machine: a document that follows the readiness of the pods.

A cluster's engine watches pods; here it reads a file. `with_file_discovery` turns the mounted configuration document
to that source, `EndpointFile` keeps the file current. Both speak the engine's documents and nothing of its code.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from local.errors import LocalError
from local.pods import Pod, matches

PLUGIN = "file-discovery"
KIND = "EndpointPickerConfig"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Which pods one engine chooses from, and on which of their ports they serve."""

    name: str
    namespace: str
    selector: Mapping[str, str]
    ports: Sequence[int]

    def holds(self, pod: Pod) -> bool:
        """Whether the pool's selector selects `pod`."""
        return pod.namespace == self.namespace and matches(self.selector, pod.labels)


def pool_of(args: Sequence[str], objects: Iterable[Mapping[str, Any]], namespace: str) -> Pool:
    """The pool that an engine with these arguments serves: an InferencePool by name, or the selector in its flags."""
    flags = flag_values(args)
    where = flags.get("pool-namespace", namespace)
    if "endpoint-selector" in flags:
        ports = [int(port) for port in flags.get("endpoint-target-ports", "").split(",") if port]
        return Pool(name=flags.get("pool-name", "epp"), namespace=where, selector=_selector(flags["endpoint-selector"]), ports=ports)
    name = flags.get("pool-name", "")
    for item in objects:
        if item["kind"] == "InferencePool" and item["metadata"]["name"] == name:
            spec = item["spec"]
            ports = [port["number"] for port in spec["targetPorts"]]
            return Pool(name=name, namespace=where, selector=spec["selector"]["matchLabels"], ports=ports)
    raise LocalError(f"the engine's --pool-name is {name!r}, but the stack has no InferencePool of that name")


def flag_values(args: Sequence[str]) -> dict[str, str]:
    """Flags of a command line by name without dashes; `--flag value` and `--flag=value`, a flag alone is `true`."""
    values: dict[str, str] = {}
    for position, arg in enumerate(args):
        if not arg.startswith("--"):
            continue
        name, separator, value = arg.lstrip("-").partition("=")
        following = args[position + 1] if position + 1 < len(args) else "--"
        values[name] = value if separator else ("true" if following.startswith("--") else following)
    return values


def with_file_discovery(document: str, path: Path) -> str:
    """The engine's configuration with the file at `path` as its source of endpoints; other documents come back as they are."""
    parsed: Any = yaml.safe_load(document)
    if not isinstance(parsed, dict) or parsed.get("kind") != KIND:
        return document
    plugins = [plugin for plugin in parsed.get("plugins") or [] if plugin.get("type") != PLUGIN]
    plugins.append({"type": PLUGIN, "parameters": {"path": str(path), "watchFile": True}})
    layer = {**(parsed.get("dataLayer") or {}), "discovery": {"pluginRef": PLUGIN}}
    return yaml.safe_dump({**parsed, "plugins": plugins, "dataLayer": layer}, sort_keys=False)


class EndpointFile:
    """The file a pool's engine reads; replaced as a whole, so that a reader never sees half of it."""

    def __init__(self, path: Path, pool: Pool) -> None:
        self.path = path
        self.pool = pool
        self._written: str | None = None

    def write(self, ready: Iterable[tuple[Pod, str]]) -> bool:
        """Make the file list the pool's members among `ready` pods with their addresses; returns whether it changed."""
        endpoints = [entry for pod, address in ready if self.pool.holds(pod) for entry in self._entries(pod, address)]
        text = yaml.safe_dump({"endpoints": endpoints}, sort_keys=False)
        if text == self._written:
            return False
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_name(f".{self.path.name}.new")
        draft.write_text(text)
        os.replace(draft, self.path)
        self._written = text
        return True

    def _entries(self, pod: Pod, address: str) -> Iterable[dict[str, Any]]:
        for rank, port in enumerate(self.pool.ports):
            name = pod.name if rank == 0 else f"{pod.name}-rank-{rank}"
            yield {"name": name, "namespace": pod.namespace, "address": address, "port": str(port), "labels": dict(pod.labels)}


def _selector(text: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in text.split(",") if pair]
    if not pairs or any(not separator or key.endswith("!") or not value for key, separator, value in pairs):
        raise LocalError(f"--endpoint-selector={text}: only key=value pairs are played on this machine, not yet sets or negations")
    return {key: value.removeprefix("=") for key, _, value in pairs}
