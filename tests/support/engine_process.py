"""The engine as a process of its own, on free loopback ports."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.sources import ROOT

UP = "engine is up"

CONFIGURATION = """apiVersion: llm-d.ai/v1
kind: EndpointPickerConfig
plugins:
- type: file-discovery
  parameters: {path: %s, watchFile: true}
- type: queue-scorer
dataLayer:
  discovery: {pluginRef: file-discovery}
"""
ANY_PORTS = ("--bind-address=127.0.0.1", "--grpc-port=0", "--grpc-health-port=0", "--metrics-port=0")


@dataclass
class EngineProcess:
    """A running engine."""

    process: "subprocess.Popen[str]"
    ports: Mapping[str, int]  # ext_proc, health, metrics

    def next_line(self) -> dict[str, Any]:
        """The next log line; empty when the process has ended."""
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        return json.loads(line) if line else {}

    def wait_for(self, message: str) -> dict[str, Any]:
        """The next log line with this message."""
        while (line := self.next_line())["msg"] != message:
            pass
        return line

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Signal the engine and wait for its end; returns the exit code."""
        self.process.send_signal(number)
        return self.process.wait()


def write_endpoints(folder: Path, endpoints: Mapping[str, int]) -> Path:
    """Name -> port on loopback, written in one step."""
    listed = [{"name": name, "address": "127.0.0.1", "port": str(port)} for name, port in endpoints.items()]
    (folder / "endpoints.new").write_text(json.dumps({"endpoints": listed}), encoding="utf-8")
    return (folder / "endpoints.new").rename(folder / "endpoints.json")


def write_configuration(folder: Path, endpoints: Mapping[str, int]) -> Path:
    """A document that discovers endpoints by file."""
    (folder / "engine.yaml").write_text(CONFIGURATION % write_endpoints(folder, endpoints), encoding="utf-8")
    return folder / "engine.yaml"


def start(*arguments: str, environ: Mapping[str, str] | None = None) -> "subprocess.Popen[str]":
    """`python -m router.engine` with these arguments."""
    return subprocess.Popen(
        [sys.executable, "-m", "router.engine", *arguments],
        cwd=ROOT,
        env={**os.environ, **(environ or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def engine(*arguments: str, environ: Mapping[str, str] | None = None) -> Generator[EngineProcess]:
    """An engine that is up; killed at the end if it still runs."""
    process = start(*ANY_PORTS, *arguments, environ=environ)
    try:
        running = EngineProcess(process, {})
        running.ports = running.wait_for(UP)
        yield running
    finally:
        process.kill()
        process.communicate()
