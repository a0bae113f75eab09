import os
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from local import guard

SLEEP = ["/bin/sh", "-c", "while :; do sleep 0.05; done"]


def start(folder: Path) -> "subprocess.Popen[bytes]":
    """A process of the run in `folder`, in a session of its own as containers are."""
    return subprocess.Popen(SLEEP, env={"PATH": os.environ["PATH"], guard.MARK: str(folder)}, start_new_session=True)


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Path]:
    run = tmp_path / "run"
    run.mkdir()
    yield run
    guard.kill_marked(str(run))


def start_guard(folder: Path) -> "subprocess.Popen[bytes]":
    argv = [sys.executable, "-I", "-S", guard.__file__, str(folder)]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, start_new_session=True)


def test_processes_of_a_run_are_found_by_their_environment(folder: Path, tmp_path: Path) -> None:
    mine, other = start(folder), start(tmp_path / "another")
    try:
        assert mine.pid in guard.marked(str(folder))
        assert other.pid not in guard.marked(str(folder))
    finally:
        guard.kill_marked(str(tmp_path / "another"))
        other.wait()
        guard.kill_marked(str(folder))
        mine.wait()


def test_all_processes_of_a_run_are_killed_with_their_children(folder: Path) -> None:
    processes = [start(folder) for _ in range(3)]

    assert guard.kill_marked(str(folder)) >= 3
    assert [process.wait() for process in processes] == [-signal.SIGKILL] * 3
    assert guard.marked(str(folder)) == []
    assert guard.kill_marked(str(folder)) == 0


def test_when_the_runner_is_gone_everything_is_cleaned_up(folder: Path) -> None:
    process = start(folder)
    watcher = start_guard(folder)
    assert watcher.stdin is not None

    watcher.stdin.close()

    assert watcher.wait(timeout=30) == 0
    assert process.wait(timeout=30) == -signal.SIGKILL
    assert not folder.exists()


def test_when_the_runner_cleaned_up_itself_the_guard_touches_nothing(folder: Path) -> None:
    process = start(folder)
    watcher = start_guard(folder)

    watcher.communicate(guard.DONE, timeout=30)

    assert process.poll() is None
    assert folder.exists()
    guard.kill_marked(str(folder))
    process.wait()


def test_a_terminals_interrupt_does_not_end_the_guard(folder: Path) -> None:
    watcher = start_guard(folder)
    assert watcher.stdin is not None
    process = start(folder)
    while not ignores(watcher.pid, signal.SIGTERM):
        assert watcher.poll() is None

    watcher.send_signal(signal.SIGINT)
    watcher.send_signal(signal.SIGTERM)
    watcher.stdin.close()

    assert watcher.wait(timeout=30) == 0
    assert process.wait(timeout=30) == -signal.SIGKILL


def ignores(pid: int, number: signal.Signals) -> bool:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    mask = next(int(line.split()[1], 16) for line in lines if line.startswith("SigIgn"))
    return bool(mask & 1 << number - 1)
