"""Containers made of shell scripts, for tests of the local runner's kubelet: small, quick and real."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from local.clock import Clock, RealClock
from local.containers import ContainerPlan, Surroundings
from local.probes import Probe
from local.processes import Launch

FOREVER = "while :; do sleep 0.02; done"
STUBBORN = f"trap '' TERM; echo up; {FOREVER}"
PERIOD_SECONDS = 0.01


@dataclass
class Witness:
    """Hears of changes and lets a test wait for a condition among them."""

    changes: int = 0
    _event: asyncio.Event = field(default_factory=asyncio.Event)

    def __call__(self) -> None:
        self.changes += 1
        self._event.set()

    async def sees(self, condition: Callable[[], object]) -> None:
        """Return as soon as `condition` holds after some change."""
        while not condition():
            self._event.clear()
            await self._event.wait()


class CountingClock(Clock):
    """A clock that only moves when somebody sleeps, and writes down for how long."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def now(self) -> float:
        return sum(self.slept)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)


def surroundings(witness: Callable[[], None], clock: Clock | None = None, scale: float = 0.01) -> Surroundings:
    return Surroundings(clock=clock or RealClock(), scale=scale, changed=witness, leaving=asyncio.Event(), hurry=asyncio.Event())


def launch(folder: Path, script: str) -> Launch:
    return Launch(argv=["/bin/sh", "-c", script], env={"PATH": os.environ["PATH"]}, folder=folder, log=folder / "container.log")


def exec_probe(folder: Path, script: str, **fields: Any) -> Probe:
    """A probe that runs a script in `folder`; a file there is a switch that a test can turn."""
    command = Launch(argv=["/bin/sh", "-c", script], env={"PATH": os.environ["PATH"]}, folder=folder, log=folder / "probe.log")
    given: dict[str, Any] = {"period_seconds": PERIOD_SECONDS, "timeout_seconds": 5, **fields}
    return Probe(kind="exec", host="127.0.0.1", launch=command, **given)


def container_plan(folder: Path, script: str = FOREVER, **fields: Any) -> ContainerPlan:
    given: dict[str, Any] = {"name": "c", "launch": launch(folder, script), "grace_seconds": 5, **fields}
    return ContainerPlan(**given)
