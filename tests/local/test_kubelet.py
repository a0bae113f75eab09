import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest

from local.containers import ContainerPlan
from local.kubelet import PodPlan, PodRunner
from local.pods import expand
from tests.support.manifests import deployment
from tests.support.runners import FOREVER, Witness, container_plan, exec_probe, surroundings
from tests.support.waiting import until


@pytest.fixture
async def witness() -> Witness:
    return Witness()


def pod_runner(witness: Witness, containers: Sequence[ContainerPlan], init: Sequence[ContainerPlan] = (), scale: float = 0.01) -> PodRunner:
    [pod] = expand([deployment()])
    plan = PodPlan(pod=pod, address="127.70.1.2", init_containers=init, containers=containers)
    return PodRunner(plan, surroundings(witness, scale=scale))


@contextlib.asynccontextmanager
async def running(runner: PodRunner) -> AsyncGenerator[None]:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(runner.run())
        try:
            yield
        finally:
            task.cancel()


def marking(folder: Path, word: str) -> str:
    """A script that writes when it starts and when it is asked to end."""
    return f"trap 'echo {word}-end >> order; exit 0' TERM; echo {word} >> order; {FOREVER}"


def order(folder: Path) -> list[str]:
    return (folder / "order").read_text().split() if (folder / "order").exists() else []


async def test_a_pod_is_ready_when_all_its_containers_are(witness: Witness, tmp_path: Path) -> None:
    waiting = container_plan(tmp_path, name="b", readiness=exec_probe(tmp_path, "test -e up"))
    runner = pod_runner(witness, [container_plan(tmp_path, name="a"), waiting])

    async with running(runner):
        await witness.sees(lambda: runner.containers[0].ready)
        assert not runner.ready
        (tmp_path / "up").touch()
        await witness.sees(lambda: runner.ready)

        assert runner.phase == "Running"


async def test_init_containers_run_one_after_the_other_before_the_rest(witness: Witness, tmp_path: Path) -> None:
    init = [
        container_plan(tmp_path, "echo first >> order", name="i1", restart_policy="OnFailure"),
        container_plan(tmp_path, "echo second >> order", name="i2", restart_policy="OnFailure"),
    ]
    runner = pod_runner(witness, [container_plan(tmp_path, marking(tmp_path, "main"))], init)

    async with running(runner):
        await until(lambda: "main" in order(tmp_path))

    assert order(tmp_path) == ["first", "second", "main", "main-end"]


async def test_an_init_container_that_fails_is_repeated_and_holds_the_pod_back(witness: Witness, tmp_path: Path) -> None:
    init = [container_plan(tmp_path, "test -e go || { echo x >> tries; exit 1; }", name="i", restart_policy="OnFailure")]
    runner = pod_runner(witness, [container_plan(tmp_path)], init)

    async with running(runner):
        await until((tmp_path / "tries").exists)
        assert runner.phase in ("Error", "CrashLoopBackOff", "Init")
        assert not runner.ready
        (tmp_path / "go").touch()
        await witness.sees(lambda: runner.ready)

    assert runner.restarts >= 1


async def test_a_sidecar_starts_before_and_ends_after_the_containers(witness: Witness, tmp_path: Path) -> None:
    sidecar = container_plan(tmp_path, marking(tmp_path, "side"), name="s", startup=exec_probe(tmp_path, "grep -q side order"))
    runner = pod_runner(witness, [container_plan(tmp_path, marking(tmp_path, "main"))], [sidecar])

    async with running(runner):
        await until(lambda: "main" in order(tmp_path))
        await witness.sees(lambda: runner.ready)

        assert len(runner.containers) == 2

    assert order(tmp_path) == ["side", "main", "main-end", "side-end"]


async def test_a_crashing_pod_is_called_as_kubectl_calls_it(witness: Witness, tmp_path: Path) -> None:
    runner = pod_runner(witness, [container_plan(tmp_path, "exit 7")], scale=10)

    async with running(runner):
        await witness.sees(lambda: runner.phase == "CrashLoopBackOff")

        assert runner.restarts == 1


async def test_a_pod_on_its_way_out_is_not_ready(witness: Witness, tmp_path: Path) -> None:
    runner = pod_runner(witness, [container_plan(tmp_path)])

    async with running(runner):
        await witness.sees(lambda: runner.ready)
        before = witness.changes
        runner.stop_serving()

        assert not runner.ready
        assert runner.phase == "Terminating"
        assert witness.changes > before


async def test_a_pod_says_what_its_container_says(witness: Witness, tmp_path: Path) -> None:
    runner = pod_runner(witness, [container_plan(tmp_path, name="web", readiness=exec_probe(tmp_path, "exit 9", failure_threshold=1))])

    async with running(runner):
        await witness.sees(lambda: runner.message)

        assert runner.message == "web: readiness probe: exit code 9"


async def test_before_anything_started_a_pod_is_pending(witness: Witness, tmp_path: Path) -> None:
    assert pod_runner(witness, [container_plan(tmp_path)]).phase == "Pending"
    assert pod_runner(witness, [container_plan(tmp_path)], [container_plan(tmp_path, name="i")]).phase == "Init"
