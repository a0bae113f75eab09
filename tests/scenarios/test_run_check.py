"""`mmserve run` whole: the program's own objects played with real Envoy, the engine and simulated model servers."""

import asyncio
import json
import os
import shlex
import signal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest

from local.guard import marked
from local.ports import listening
from tests.support.command_line import Command, mmserve, remains
from tests.support.local_stack import own
from tests.support.waiting import until

pytestmark = [pytest.mark.xdist_group("run"), pytest.mark.timeout(180)]

ATTEMPTS = 200
STEPS = {"image-red", "repeat-answered", "text-only", "repeat-same-pod", "repeat-prefix-hits", "repeat-mm-hit", "counters",
         "photograph", "image-url", "video", "large-body", "stream"}  # fmt: skip


def errors(folder: Path) -> str:
    return (folder / "stderr").read_text()


async def send(curl: str) -> dict[str, Any]:
    """Do what the printed curl command says."""
    words = shlex.split(curl)
    headers = dict([words[words.index("-H") + 1].split(": ", 1)])
    async with aiohttp.ClientSession() as session, session.post(words[2], data=words[words.index("-d") + 1], headers=headers) as response:
        response.raise_for_status()
        return await response.json()


async def started(command: Command) -> tuple[str, str]:
    """URL and curl of a run that got ready."""
    url = (await command.line_with("ready at")).removeprefix("ready at ")
    return url, await command.line_with("curl")


async def test_the_check_passes_and_leaves_nothing(tmp_path: Path) -> None:
    async with mmserve(tmp_path, "run", "--check", "--json", "--instance", own("scenario-check")) as command:
        assert command.process.stdout is not None
        report = json.loads(await command.process.stdout.read())
        code = await command.process.wait()

        assert [step for step in report["steps"] if not step["ok"]] == []
        assert report["ok"]
        assert code == 0
        assert {step["id"] for step in report["steps"] if not step["id"].startswith("colour-")} == STEPS
        assert len([step for step in report["steps"] if step["id"].startswith("colour-")]) == 20
        assert "5/5 ready" in errors(tmp_path)
        assert remains(command, None) == []


async def test_a_run_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    async with mmserve(tmp_path, "run", "--instance", own("scenario-serve"), "--replicas", "2", "--sim-profile", "fast") as command:
        url, curl = await started(command)
        answer = await send(curl)
        await command.line_with("requests=1")
        run = command.run_folder
        host = urlsplit(url).hostname
        assert host is not None
        assert listening(host) == [8081, 9002, 9003, 9090, 19000, 19001]

        code = await command.end(signal.SIGINT)

        assert "red" in answer["choices"][0]["message"]["content"]
        assert code == 0
        assert run is not None
        assert remains(command, run) == []
        assert listening(host) == []
        assert errors(tmp_path) == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_an_interruption_during_the_start_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    async with mmserve(tmp_path, "run", "--instance", own("scenario-start")) as command:
        await command.line_with("starting")
        await until(lambda: command.run_folder is not None and list(command.run_folder.glob("logs/*/*.log")))
        run = command.run_folder

        code = await command.end(number)

        assert code == 128 + number
        assert remains(command, run) == []


async def test_a_runner_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    async with mmserve(tmp_path, "run", "--instance", own("scenario-killed"), "--replicas", "1") as command:
        await started(command)
        run = command.run_folder
        assert len(remains(command, run)) > 3

        await command.end(signal.SIGKILL)

        await until(lambda: remains(command, run) == [])


def processes(run: Path, word: str) -> list[int]:
    """Processes of a run whose command line holds `word`."""
    return [pid for pid in marked(str(run)) if word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()]


@pytest.mark.parametrize("program", ["simulator", "router.engine"])
async def test_a_program_that_is_killed_is_restarted_and_the_stack_serves_again(tmp_path: Path, program: str) -> None:
    words = ("run", "--instance", own("scenario-restart"), "--replicas", "1", "--sim-profile", "fast")
    async with mmserve(tmp_path, *words) as command:
        _, curl = await started(command)
        run = command.run_folder
        assert run is not None
        [victim] = processes(run, program)

        os.kill(victim, signal.SIGKILL)
        line = await command.line_with("restarts=1")
        while "ready=0" in line or "ready=1/2" in line:
            line = await command.line_with("restarts=1")

        assert processes(run, program) != [victim]
        assert "red" in (await answered(curl))["choices"][0]["message"]["content"]
        assert await command.end(signal.SIGINT) == 0
        assert remains(command, run) == []


async def answered(curl: str) -> dict[str, Any]:
    """The answer as soon as there is one: the engine hears of a pod a moment after it is ready."""
    for _ in range(ATTEMPTS):
        try:
            return await send(curl)
        except aiohttp.ClientResponseError:
            await asyncio.sleep(0.05)
    return await send(curl)


async def test_a_second_run_of_the_same_stack_says_who_has_the_port(tmp_path: Path) -> None:
    words = ("run", "--instance", own("scenario-twice"), "--replicas", "1")
    second_folder = tmp_path / "second"
    second_folder.mkdir()
    async with mmserve(tmp_path, *words) as first:
        await started(first)
        async with mmserve(second_folder, *words) as second:
            code = await second.end()

        assert code == 1
        assert "8081 is in use by process" in errors(second_folder)
        assert errors(second_folder).count("\n") == 1
        assert await first.end(signal.SIGINT) == 0


async def test_a_pod_that_never_gets_ready_is_one_message(tmp_path: Path) -> None:
    extra = 'tiers.decode.extraArgs=["--sim-startup-delay=1000"]'
    words = (
        "run",
        "--instance",
        own("scenario-unready"),
        "--replicas",
        "1",
        "--set",
        extra,
        "--ready-timeout",
        "4",
        "--probe-scale",
        "0.02",
    )
    async with mmserve(tmp_path, *words) as command:
        code = await command.end()

        assert code == 1
        assert "did not get ready: not ready after 4 s" in errors(tmp_path)
        assert "startup probe" in errors(tmp_path)
        assert remains(command, None) == []


async def test_a_pod_that_ends_at_once_is_one_message_with_its_log(tmp_path: Path) -> None:
    words = ("run", "--instance", own("scenario-crash"), "--replicas", "1", "--set", 'tiers.decode.extraArgs=["--sim-output=nonsense"]')
    async with mmserve(tmp_path, *words) as command:
        code = await command.end()

        assert code == 1
        assert "3 restarts" in errors(tmp_path)
        assert "nonsense" in errors(tmp_path)
        assert remains(command, None) == []


async def test_a_running_stack_is_verified_from_outside(tmp_path: Path) -> None:
    verify_folder = tmp_path / "verify"
    verify_folder.mkdir()
    async with mmserve(tmp_path, "run", "--json", "--instance", own("scenario-verify"), "--sim-profile", "fast") as command:
        described = json.loads(await command.line_with('"url"'))
        pods = [word for pod in described["pods"] for word in ("--pod", f"{pod['name']}={pod['url']}")]
        async with mmserve(verify_folder, "verify", "--url", described["url"], *pods) as verify:
            code = await verify.end()

        assert "32 ok, 0 failed, 0 skipped" in "".join(verify.lines)
        assert code == 0
        assert await command.end(signal.SIGTERM) == 0
