"""`mmserve` as a process of its own, as a person or a machine starts it."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path

from local import guard

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass
class Command:
    """A running command, what it printed so far, and where it keeps its runs."""

    process: asyncio.subprocess.Process
    temporary: Path
    lines: list[str] = field(default_factory=list[str])

    @property
    def run_folder(self) -> Path | None:
        """The folder of the run, while there is one."""
        return next(iter(self.temporary.glob("mmserve-*")), None)

    async def line_with(self, word: str) -> str:
        """The next line that holds `word`; the command's end without one is an error."""
        assert self.process.stdout is not None
        while raw := await self.process.stdout.readline():
            self.lines.append(raw.decode())
            if word in self.lines[-1]:
                return self.lines[-1].rstrip("\n")
        raise AssertionError(f"ended without a line that holds {word!r}: {''.join(self.lines)}")

    async def end(self, *signals: signal.Signals) -> int:
        """Send signals, then wait for the end; returns the exit code."""
        for number in signals:
            self.process.send_signal(number)
        assert self.process.stdout is not None
        self.lines.append((await self.process.stdout.read()).decode())
        return await self.process.wait()


@contextlib.asynccontextmanager
async def mmserve(folder: Path, *words: str) -> AsyncGenerator[Command]:
    """Start `mmserve` with its temporary folder in `folder`; ended hard if a test leaves it running. Errors go to `folder/stderr`."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    env = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)}
    with (folder / "stderr").open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "cli", *words), stdout=asyncio.subprocess.PIPE, stderr=errors, env=env, cwd=ROOT, limit=2**22
        )
    command = Command(process, temporary)
    try:
        yield command
    finally:
        run = command.run_folder
        if process.returncode is None:
            process.kill()
            await process.wait()
        if run is not None:
            guard.kill_marked(str(run))


def remains(command: Command, run_folder: Path | None) -> list[str]:
    """What is left of a command's run: processes, and files in its temporary folder."""
    left = [str(path) for path in command.temporary.iterdir()]
    return left + [f"process {pid}" for pid in guard.marked(str(run_folder))]
