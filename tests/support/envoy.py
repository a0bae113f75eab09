"""Real Envoy on free loopback ports, with the document that stacks are rendered with."""

import json
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.plan.envoy import Choices, document

READY_ATTEMPTS = 150


@dataclass(frozen=True, slots=True)
class EnvoyPorts:
    """Where it listens and where it expects the engine."""

    proxy: int
    admin: int
    ready: int
    engine: int


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for held in sockets:
            held.bind(("127.0.0.1", 0))
        return [held.getsockname()[1] for held in sockets]
    finally:
        for held in sockets:
            held.close()


@contextmanager
def running_envoy(folder: Path, *, guard: bool = True, secure: bool = False) -> Generator[EnvoyPorts]:
    """Envoy until the block ends. `guard`: with the filter that removes clients' routing headers before the engine sees them."""
    ports = EnvoyPorts(*free_ports(4))
    config = folder / "envoy.json"
    config.write_text(json.dumps(envoy_document(ports, guard=guard, secure=secure)))
    command = [str(Path(sys.executable).parent / "envoy"), "--config-path", str(config), "--concurrency", "1"]
    command += ["--base-id", str(ports.proxy), "--log-level", "warning", "--disable-hot-restart"]
    with (folder / "envoy.log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            _await_ready(ports, process, folder / "envoy.log")
            yield ports
        finally:
            process.terminate()
            process.wait(10)


def envoy_document(ports: EnvoyPorts, *, guard: bool, secure: bool) -> dict[str, Any]:
    """The rendered document with other ports and addresses of loopback only."""
    made = document(Choices(fail_open=True, secure=secure, ipv6=False, engine_host="127.0.0.1"))
    moved: dict[str, Any] = json.loads(json.dumps(made), object_hook=lambda value: _moved(value, ports))
    listeners = moved["static_resources"]["listeners"]
    if not guard:
        manager = listeners[1]["filter_chains"][0]["filters"][0]["typed_config"]
        manager["http_filters"] = [entry for entry in manager["http_filters"] if not entry["name"].endswith("header_mutation")]
    return moved


def _moved(value: dict[str, Any], ports: EnvoyPorts) -> dict[str, Any]:
    known = {8081: ports.proxy, 19000: ports.admin, 19001: ports.ready, 9002: ports.engine}
    if "port_value" in value:
        return {"address": "127.0.0.1", "port_value": known[value["port_value"]]}
    return value


def _await_ready(ports: EnvoyPorts, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(READY_ATTEMPTS):
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{ports.ready}/ready", timeout=1) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            try:
                process.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
    raise AssertionError(f"envoy does not get ready: {log.read_text()[-2000:]}")
