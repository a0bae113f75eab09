"""Ends what a run left behind when the runner itself was killed: a small process of its own.

The runner starts it with the run's folder and keeps a pipe open. When the pipe closes without the word `done`, the guard
kills every process of the run and removes the folder. Processes are known by a variable in their environment, which also
their children inherit. Uses the standard library alone, so that it starts in a few milliseconds.
"""

import contextlib
import os
import select
import shutil
import signal
import sys
from pathlib import Path

MARK = "MMSERVE_RUN"  # variable that holds the run's folder in the environment of each of its processes
DONE = b"done"
ROUNDS = 40
PAUSE_SECONDS = 0.05


def marked(folder: str) -> list[int]:
    """Process ids of the run in `folder`, this process excepted."""
    wanted = f"{MARK}={folder}".encode()
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


def kill_marked(folder: str) -> int:
    """Kill every process of the run until none is found; returns how many were killed."""
    killed: set[int] = set()
    for _ in range(ROUNDS):
        left = marked(folder)
        if not left:
            break
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        select.select([], [], [], PAUSE_SECONDS)
    return len(killed)


def main(folder: str) -> None:
    """Wait for the runner's end; clean up unless it said that it did."""
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    said = sys.stdin.buffer.read()
    if DONE not in said:
        kill_marked(folder)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
