"""One container as a process: started in a session of its own, logged to a file, ended with everything it started."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LOG_TAIL_LINES = 15
LOG_TAIL_BYTES = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What to start: command line, whole environment, working folder, log file."""

    argv: Sequence[str]
    env: Mapping[str, str]
    folder: Path
    log: Path


class ContainerProcess:
    """A running process group."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, launch: Launch) -> "ContainerProcess":
        """Start the process; raises OSError when the program cannot be executed."""
        launch.log.parent.mkdir(parents=True, exist_ok=True)
        with launch.log.open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *launch.argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=asyncio.subprocess.STDOUT,
                cwd=launch.folder,
                env=dict(launch.env),
                start_new_session=True,
            )
        return cls(process)

    @property
    def pid(self) -> int:
        """Process id, which is also that of the group."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How the process ended (negative: by a signal), or None while it runs."""
        return self._process.returncode

    async def wait(self) -> int:
        """Wait for the end; what the process left in its group is killed then. Returns the exit code."""
        code = await self._process.wait()
        self._signal(signal.SIGKILL)
        return code

    async def terminate(self, grace_seconds: float, hurry: asyncio.Event) -> None:
        """SIGTERM to the group, SIGKILL after the grace period or as soon as `hurry` is set. Returns when the process is gone."""
        if self.exit_code is None:
            self._signal(signal.SIGTERM)
            await _first(self._process.wait(), hurry.wait(), grace_seconds)
        self._signal(signal.SIGKILL)
        await self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def tail(log: Path, lines: int = LOG_TAIL_LINES) -> str:
    """The last lines of a log; empty where there is none."""
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LOG_TAIL_BYTES))
        return "\n".join(file.read().decode(errors="replace").splitlines()[-lines:])


async def run_command(launch: Launch, timeout_seconds: float) -> tuple[bool, str]:
    """Run a command to its end, as an exec probe or hook does; whether it succeeded, and what to say if not."""
    try:
        process = await ContainerProcess.start(launch)
    except OSError as error:
        return False, f"cannot execute {launch.argv[0]}: {error.strerror}"
    try:
        async with asyncio.timeout(timeout_seconds):
            code = await process.wait()
    except TimeoutError:
        return False, f"no end within {timeout_seconds:g} s"
    finally:
        if process.exit_code is None:
            killed = asyncio.Event()
            killed.set()
            await process.terminate(0, killed)
    return code == 0, f"exit code {code}"


async def _first(one: Coroutine[Any, Any, object], other: Coroutine[Any, Any, object], timeout_seconds: float) -> None:
    """Return when either is done or the time is over; the loser is cancelled."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout_seconds), asyncio.TaskGroup() as group:
            tasks = [group.create_task(one), group.create_task(other)]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
