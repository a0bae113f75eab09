"""Small stacks of stand-in programs, played for tests of the local runner."""

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from local import guard
from local.clock import RealClock
from local.images import Play, Programs
from local.layout import RunSettings
from local.plan import StackPlan, plan_stack
from local.ports import listening
from local.stack import Housekeeping
from tests.support.manifests import model_container, small_stack

STAND_IN = Path(__file__).with_name("stand_in.py")
SCALE = 0.05
READINESS = {"httpGet": {"path": "/health", "port": "modelserver"}, "periodSeconds": 1}


def programs(folder: Path) -> Programs:
    """A Python that runs the stand-in whatever module it is asked for."""
    wrapper = folder / "python"
    wrapper.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {STAND_IN} "$@"\n')
    wrapper.chmod(0o755)
    return Programs(python=str(wrapper), envoy=None)


def settings(folder: Path, scale: float = SCALE) -> RunSettings:
    return RunSettings(programs=programs(folder), play=Play(sim_profile="fast"), scale=scale)


def house(keep_logs: Path | None = None) -> Housekeeping:
    return Housekeeping(clock=RealClock(), hurry=asyncio.Event(), keep_logs=keep_logs)


def own(name: str) -> str:
    """A stack's name that no other test process uses, so that none share addresses."""
    return f"{name}-{os.getpid()}"


def small_plan(name: str, replicas: int = 2, model: Mapping[str, Any] | None = None) -> StackPlan:
    """Model servers with a readiness probe behind an engine, under a name that only the caller uses."""
    return plan_stack(name, small_stack(replicas, model or model_container(readinessProbe=READINESS)))


def leftovers(plan: StackPlan, run_folder: Path | None) -> list[str]:
    """What a run left behind: processes, listening sockets, its folder."""
    found = [f"{address} listens on {port}" for address in plan.addresses.values() for port in listening(address)]
    if run_folder is not None:
        found += [f"process {pid}" for pid in guard.marked(str(run_folder))]
        found += [str(run_folder)] if run_folder.exists() else []
    return found
