import asyncio
import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from local.errors import LocalError, NotReadyError
from local.guard import MARK
from local.plan import StackPlan
from local.processes import tail
from local.stack import LocalStack, play
from tests.support.local_stack import READINESS, house, leftovers, own, settings, small_plan
from tests.support.manifests import model_container
from tests.support.waiting import until


def folder_of(stack: LocalStack) -> Path:
    return Path(stack.pods[0].plan.containers[0].launch.env[MARK])


def listed(stack: LocalStack) -> list[str]:
    """Names in the engine's file of endpoints."""
    [file] = (folder_of(stack) / "endpoints").glob("*.yaml")
    return [entry["name"] for entry in yaml.safe_load(file.read_text())["endpoints"]]


async def get(address: str, port: int, path: str) -> Any:
    reader, writer = await asyncio.open_connection(address, port)
    writer.write(f"GET {path} HTTP/1.0\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    return json.loads(answer.partition(b"\r\n\r\n")[2])


async def test_a_stack_gets_ready_and_leaves_nothing(tmp_path: Path) -> None:
    plan = small_plan(own("stack-ready"))
    async with play(plan, settings(tmp_path), house()) as stack:
        await stack.wait_ready(60)
        folder = folder_of(stack)

        started = await get(plan.addresses[plan.pods[1].key], 8000, "/started")
        assert started["argv"][:4] == ["-m", "simulator", "serve", "tiny/model"]
        assert folder.stat().st_mode & 0o077 == 0

    assert leftovers(plan, folder) == []


async def test_the_engines_file_follows_readiness(tmp_path: Path) -> None:
    probe = {"exec": {"command": ["test", "-e", "up"]}, "periodSeconds": 0.1, "failureThreshold": 1}
    plan = small_plan(own("stack-endpoints"), 2, model_container(readinessProbe=probe))
    async with play(plan, settings(tmp_path), house()) as stack:
        first, second = (pod.plan for pod in stack.pods[1:])
        assert listed(stack) == []

        (first.containers[0].launch.folder / "up").touch()
        await until(lambda: listed(stack) == [first.pod.name])
        (second.containers[0].launch.folder / "up").touch()
        await until(lambda: listed(stack) == [first.pod.name, second.pod.name])
        (first.containers[0].launch.folder / "up").unlink()
        await until(lambda: listed(stack) == [second.pod.name])


async def test_pods_leave_the_file_before_they_are_stopped(tmp_path: Path) -> None:
    plan = small_plan(own("stack-leaving"))
    seen: list[list[str]] = []
    async with play(plan, settings(tmp_path), house()) as stack:
        await stack.wait_ready(60)
        stack.stop_serving()
        seen.append(listed(stack))

    assert seen == [[]]


async def refused(plan: StackPlan, folder: Path, word: str, timeout_seconds: float) -> tuple[str, Path]:
    """What a stack says that does not get ready, some time after `word` is in a log; and the folder it ran in."""
    run = Path()

    async def start() -> None:
        nonlocal run
        async with play(plan, settings(folder, scale=0.001), house()) as stack:
            run = folder_of(stack)
            log = stack.pods[1].plan.containers[0].launch.log
            await until(lambda: word in tail(log))
            await stack.wait_ready(timeout_seconds)

    with pytest.raises(NotReadyError) as caught:
        await start()
    return str(caught.value), run


async def test_a_pod_that_crashes_again_and_again_is_reported_with_the_end_of_its_log(tmp_path: Path) -> None:
    plan = small_plan(own("stack-crash"), 1, model_container(args=["crash"], readinessProbe=READINESS))

    message, folder = await refused(plan, tmp_path, "crashes", 60)

    assert f"pod {plan.pods[1].name} did not get ready" in message
    assert "3 restarts" in message
    assert message.count("this model crashes at once") == 1
    assert leftovers(plan, folder) == []


async def test_a_pod_that_never_gets_ready_is_reported_after_the_time_allowed(tmp_path: Path) -> None:
    plan = small_plan(own("stack-deaf"), 1, model_container(args=["deaf"], readinessProbe=READINESS))

    message, folder = await refused(plan, tmp_path, "listening", 0.1)

    assert f"pod {plan.pods[1].name} did not get ready: not ready after 0.1 s" in message
    assert message.endswith("end of its log:\nlistening")
    assert leftovers(plan, folder) == []


async def test_progress_is_told_at_each_change(tmp_path: Path) -> None:
    plan = small_plan(own("stack-progress"), 1)
    seen: list[int] = []
    async with play(plan, settings(tmp_path), house()) as stack:
        await stack.wait_ready(60, lambda: seen.append(sum(pod.ready for pod in stack.pods)))

    assert seen[0] == 0
    assert seen == sorted(seen)


async def test_a_taken_port_stops_the_start_before_anything_runs(tmp_path: Path) -> None:
    plan = small_plan(own("stack-taken"))
    address = plan.addresses[plan.pods[1].key]
    with socket.create_server((address, 8000)), pytest.raises(LocalError, match=rf"{address}:8000 is in use by process {os.getpid()}"):
        await play(plan, settings(tmp_path), house()).__aenter__()


async def test_an_interruption_during_the_start_leaves_nothing(tmp_path: Path) -> None:
    plan = small_plan(own("stack-interrupted"), 2, model_container(args=["deaf"], readinessProbe=READINESS))
    folders: list[Path] = []

    async def start() -> None:
        async with play(plan, settings(tmp_path), house()) as stack:
            folders.append(folder_of(stack))
            await stack.wait_ready(60)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(start())
        await until(lambda: folders and list(folders[0].glob("logs/*/*.log")))
        task.cancel()

    assert task.cancelled()
    assert leftovers(plan, folders[0]) == []


async def test_an_error_inside_comes_out_as_itself(tmp_path: Path) -> None:
    plan = small_plan(own("stack-error"))
    folders: list[Path] = []

    async def fail() -> None:
        async with play(plan, settings(tmp_path), house()) as stack:
            folders.append(folder_of(stack))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert leftovers(plan, folders[0]) == []


async def test_a_pod_that_cannot_be_laid_out_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    plan = small_plan(own("stack-broken"), 1, model_container(volumeMounts=[], env=[{"name": "X", "valueFrom": {"mood": {}}}]))

    with pytest.raises(LocalError, match="not known here"):
        await play(plan, settings(tmp_path), house()).__aenter__()

    assert list(temporary.iterdir()) == []


async def test_logs_are_kept_when_asked_for(tmp_path: Path) -> None:
    plan = small_plan(own("stack-logs"), 1)
    async with play(plan, settings(tmp_path), house(tmp_path / "kept")) as stack:
        await stack.wait_ready(60)

    assert (tmp_path / "kept" / plan.pods[1].name / "modelserver.log").read_text().startswith("listening")


KILLED = """
import asyncio, sys
from pathlib import Path
from local.stack import play
from tests.support.local_stack import house, settings, small_plan
from tests.local.test_stack import folder_of

async def main() -> None:
    async with play(small_plan(sys.argv[2]), settings(Path(sys.argv[1])), house()) as stack:
        await stack.wait_ready(60)
        print(folder_of(stack), flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_runner_that_is_killed_leaves_nothing_either(tmp_path: Path) -> None:
    plan: StackPlan = small_plan(own("stack-killed"))
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, str(tmp_path), plan.name, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    folder = Path((await process.stdout.readline()).decode().strip())
    assert leftovers(plan, folder) != []

    process.kill()
    await process.wait()

    await until(lambda: leftovers(plan, folder) == [])


async def test_flags_without_effect_are_told_once(tmp_path: Path) -> None:
    plan = small_plan(own("stack-flags"))
    async with play(plan, settings(tmp_path), house()) as stack:
        await stack.wait_ready(60)
        for pod, _ in plan.model_servers:
            with stack.log(pod, "modelserver").open("a") as log:
                log.write("simulator: flag --nonsense is not known and has no effect\nsimulator: tiny/model on http://x\n")

        assert stack.warnings() == ["--nonsense is not known and has no effect"]
