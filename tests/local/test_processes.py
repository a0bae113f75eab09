import asyncio
import os
import signal
from pathlib import Path

import pytest

from local.processes import ContainerProcess, Launch, run_command, tail
from tests.support.waiting import until

LONG = "while :; do sleep 0.02; done"


@pytest.fixture
def launch(tmp_path: Path) -> Launch:
    return Launch(argv=["/bin/sh", "-c", LONG], env={"PATH": os.environ["PATH"]}, folder=tmp_path, log=tmp_path / "logs" / "c.log")


def script(launch: Launch, text: str) -> Launch:
    return Launch(argv=["/bin/sh", "-c", text], env=launch.env, folder=launch.folder, log=launch.log)


@pytest.fixture
async def hurry() -> asyncio.Event:
    return asyncio.Event()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def said(launch: Launch, word: str) -> str:
    """The log once it holds `word`; the test's own time limit ends a wait in vain."""
    await until(lambda: word in tail(launch.log))
    return tail(launch.log)


async def test_output_goes_to_the_log(launch: Launch) -> None:
    process = await ContainerProcess.start(script(launch, "echo out; echo err >&2; exit 3"))

    assert await process.wait() == 3
    assert tail(launch.log) == "out\nerr"


async def test_a_restart_appends_to_the_log(launch: Launch) -> None:
    for word in ("one", "two"):
        await (await ContainerProcess.start(script(launch, f"echo {word}"))).wait()

    assert tail(launch.log) == "one\ntwo"


async def test_nothing_but_the_given_environment_is_there(launch: Launch) -> None:
    await (await ContainerProcess.start(script(launch, "env | grep -vE '^(PWD|SHLVL|_|OLDPWD)='"))).wait()

    assert tail(launch.log) == f"PATH={os.environ['PATH']}"


async def test_a_program_that_does_not_exist_is_an_os_error(launch: Launch) -> None:
    with pytest.raises(FileNotFoundError):
        await ContainerProcess.start(Launch(argv=["/nowhere/x"], env={}, folder=launch.folder, log=launch.log))


async def test_sigterm_comes_first(launch: Launch, hurry: asyncio.Event) -> None:
    process = await ContainerProcess.start(script(launch, f"trap 'echo bye; exit 0' TERM; echo up; {LONG}"))
    await said(launch, "up")

    await process.terminate(10, hurry)

    assert process.exit_code == 0
    assert tail(launch.log).endswith("bye")


async def test_sigkill_follows_after_the_grace_period(launch: Launch, hurry: asyncio.Event) -> None:
    process = await ContainerProcess.start(script(launch, f"trap '' TERM; echo up; {LONG}"))
    await said(launch, "up")

    await process.terminate(0.05, hurry)

    assert process.exit_code == -signal.SIGKILL


async def test_hurry_cuts_the_grace_period(launch: Launch, hurry: asyncio.Event) -> None:
    process = await ContainerProcess.start(script(launch, f"trap '' TERM; echo up; {LONG}"))
    await said(launch, "up")
    hurry.set()

    await process.terminate(10_000, hurry)

    assert process.exit_code == -signal.SIGKILL


async def test_children_end_with_the_container(launch: Launch, hurry: asyncio.Event) -> None:
    process = await ContainerProcess.start(script(launch, f"({LONG}) & echo child $!; wait"))
    child = int((await said(launch, "child")).split()[-1])

    await process.terminate(10, hurry)
    await until(lambda: not alive(child))

    assert not alive(child)


async def test_children_that_outlive_a_container_are_ended_too(launch: Launch) -> None:
    process = await ContainerProcess.start(script(launch, f"({LONG}) & echo child $!"))

    await process.wait()
    child = int((await said(launch, "child")).split()[-1])
    await until(lambda: not alive(child))

    assert not alive(child)


async def test_a_command_succeeds_or_says_its_exit_code(launch: Launch) -> None:
    assert (await run_command(script(launch, "true"), 5))[0]
    assert await run_command(script(launch, "exit 4"), 5) == (False, "exit code 4")


async def test_a_command_without_end_is_ended(launch: Launch) -> None:
    fine, message = await run_command(script(launch, f"echo $$; {LONG}"), 0.1)

    assert not fine
    assert message == "no end within 0.1 s"
    assert all(not alive(int(line)) for line in tail(launch.log).splitlines())


async def test_a_command_that_cannot_be_executed_says_so(launch: Launch) -> None:
    fine, message = await run_command(Launch(argv=["/nowhere/x"], env={}, folder=launch.folder, log=launch.log), 1)

    assert (fine, message) == (False, "cannot execute /nowhere/x: No such file or directory")


def test_the_tail_of_a_log_that_does_not_exist_is_empty(tmp_path: Path) -> None:
    assert tail(tmp_path / "none") == ""


def test_the_tail_has_the_last_lines(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("".join(f"line {number}\n" for number in range(5000)))

    assert tail(tmp_path / "log", lines=2) == "line 4998\nline 4999"
