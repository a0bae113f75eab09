import asyncio
import base64
import io
import json
import os
import re
import shlex
import signal
from pathlib import Path

import pytest
from PIL import Image
from rich.console import Console

from cli.__main__ import main
from cli.run import RunOptions, Session, curl, open_console
from local.errors import LocalError, NotReadyError
from local.images import Play, Programs
from local.layout import RunSettings
from local.plan import plan_stack
from tests.support.local_stack import leftovers, own, settings, small_plan
from tests.support.manifests import model_container, small_stack
from tests.support.waiting import until


def options(folder: Path, *, as_json: bool = False, ready_timeout_seconds: float = 60) -> RunOptions:
    return RunOptions(
        check=False, as_json=as_json, settings=settings(folder), ready_timeout_seconds=ready_timeout_seconds, keep_logs=None
    )  # fmt: skip


def console() -> Console:
    return Console(file=io.StringIO(), width=200)


def said(given: Console) -> str:
    assert isinstance(given.file, io.StringIO)
    return given.file.getvalue()


def test_the_curl_sends_a_picture_that_a_shell_passes_on_whole() -> None:
    words = shlex.split(curl(plan_stack("run-curl", small_stack(), model="tiny/model")))
    body = json.loads(words[words.index("-d") + 1])
    [picture, question] = body["messages"][0]["content"]
    content = base64.b64decode(picture["image_url"]["url"].partition(",")[2])

    assert words[2].startswith("http://127.")
    assert words[2].endswith(":8081/v1/chat/completions")
    assert Image.open(io.BytesIO(content)).getpixel((0, 0)) == (255, 0, 0)
    assert question["text"] == "What color is this image?"
    assert body["model"] == "tiny/model"


def test_a_pipe_is_not_folded_to_a_terminals_width() -> None:
    assert open_console(as_json=False).width >= 160
    assert open_console(as_json=True).stderr


WRONG = {
    "replicas-word": (["--replicas", "many"], "--replicas many: allowed are `full` and whole numbers from 1"),
    "replicas-superscript": (["--replicas", "²"], "--replicas ²: allowed are"),
    "replicas-zero": (["--replicas", "0"], "allowed are"),
    "stack": (["--stack", "nowhere"], "Pulumi.nowhere.yaml: no such stack"),
    "typo": (["--set", "topolgy=e-pd"], "topolgy"),
    "scale": (["--probe-scale", "0"], "--probe-scale"),
}


@pytest.mark.parametrize(("words", "message"), WRONG.values(), ids=WRONG)
def test_options_that_cannot_be_used_are_one_message(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *words]) == 2
    assert message in capsys.readouterr().err


async def test_a_pod_that_does_not_get_ready_ends_the_run(tmp_path: Path) -> None:
    probe = {"exec": {"command": ["false"]}, "periodSeconds": 1}
    plan = small_plan(own("run-unready"), 1, model_container(readinessProbe=probe))

    with pytest.raises(NotReadyError, match="did not get ready: not ready after"):
        await Session(plan, options(tmp_path, ready_timeout_seconds=1), console()).run()

    assert leftovers(plan, None) == []


async def test_a_missing_envoy_names_the_set_up(tmp_path: Path) -> None:
    given = RunOptions(
        check=False,
        as_json=False,
        settings=RunSettings(programs=Programs(python="python", envoy=None), play=Play(), scale=1),
        ready_timeout_seconds=1,
        keep_logs=None,
    )
    plan = small_plan(
        "run-no-envoy", 1, model_container(command=["envoy"], args=[], ports=[{"name": "modelserver", "containerPort": 8000}])
    )

    with pytest.raises(LocalError, match="make setup"):
        await Session(plan, given, console()).run()


async def test_progress_tells_of_each_pod(tmp_path: Path) -> None:
    """The stand-in engine lists no endpoints, so the run ends after its pods got ready."""
    plan = small_plan(own("run-progress"), 1)
    given = console()

    with pytest.raises(NotReadyError, match="does not know"):
        await Session(plan, options(tmp_path, ready_timeout_seconds=3), given).run()

    assert "starting 2 pods" in said(given)
    assert re.search(r"^[12]/2 ready  router-", said(given), re.MULTILINE)
    assert re.search(r"^2/2 ready ", said(given), re.MULTILINE)


async def test_an_interruption_during_the_start_is_no_success(tmp_path: Path) -> None:
    probe = {"exec": {"command": ["false"]}, "periodSeconds": 1}
    plan = small_plan(own("run-interrupted"), 1, model_container(readinessProbe=probe))
    given = console()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(Session(plan, options(tmp_path), given).run())
        await until(lambda: "1/2 ready" in said(given))
        os.kill(os.getpid(), signal.SIGINT)

    assert task.result() == 130
    assert said(given).endswith("stopped\n")
    assert leftovers(plan, None) == []
