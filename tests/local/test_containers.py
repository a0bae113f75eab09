import asyncio
import contextlib
import signal
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from local.containers import ContainerPlan, ContainerRunner, PreStop, Surroundings, read_restart_policy
from local.processes import Launch, tail
from tests.support.runners import FOREVER, STUBBORN, CountingClock, Witness, container_plan, exec_probe, launch, surroundings
from tests.support.waiting import until

NEVER = 1_000_000


@contextlib.asynccontextmanager
async def running(runner: ContainerRunner) -> AsyncGenerator["asyncio.Task[None]"]:
    """The runner at work; stopped on the way out as a pod's deletion would."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(runner.run())
        try:
            yield task
        finally:
            task.cancel()


@pytest.fixture
async def witness() -> Witness:
    return Witness()


@pytest.fixture
async def around(witness: Witness) -> Surroundings:
    return surroundings(witness)


Make = Callable[[ContainerPlan], ContainerRunner]


@pytest.fixture
async def make(around: Surroundings) -> Make:
    return lambda plan: ContainerRunner(plan, around)


async def test_without_probes_a_running_container_is_ready(make: Make, witness: Witness, tmp_path: Path) -> None:
    runner = make(container_plan(tmp_path))

    async with running(runner):
        await witness.sees(lambda: runner.status.ready)

        assert runner.status.state == "running"
        assert runner.status.started


async def test_the_startup_probe_holds_the_others_back(make: Make, witness: Witness, tmp_path: Path) -> None:
    startup = exec_probe(tmp_path, "echo s >> order; test -e up", failure_threshold=NEVER)
    liveness = exec_probe(tmp_path, "echo l >> order")
    readiness = exec_probe(tmp_path, "echo r >> order")
    runner = make(container_plan(tmp_path, startup=startup, liveness=liveness, readiness=readiness))

    async with running(runner):
        await until(lambda: (tmp_path / "order").exists() and (tmp_path / "order").read_text().count("s") >= 3)
        assert not runner.status.started
        assert set((tmp_path / "order").read_text().split()) == {"s"}

        (tmp_path / "up").touch()
        await witness.sees(lambda: runner.status.ready)
        await until(lambda: "l" in (tmp_path / "order").read_text())

    order = (tmp_path / "order").read_text().split()
    assert "s" not in order[order.index("r") :]
    assert "s" not in order[order.index("l") :]


async def test_a_startup_probe_that_fails_too_often_restarts_the_container(make: Make, witness: Witness, tmp_path: Path) -> None:
    runner = make(container_plan(tmp_path, startup=exec_probe(tmp_path, "echo x >> tries; false", failure_threshold=3)))

    async with running(runner):
        await witness.sees(lambda: runner.status.restarts == 1)

    assert (tmp_path / "tries").read_text().count("x") >= 3
    assert "startup probe failed" in runner.status.message or "startup probe" in runner.status.message


async def test_a_liveness_probe_that_fails_as_often_as_its_threshold_restarts_the_container(
    make: Make, witness: Witness, tmp_path: Path
) -> None:
    runner = make(container_plan(tmp_path, liveness=exec_probe(tmp_path, "echo x >> tries; test ! -e sick", failure_threshold=2)))

    async with running(runner):
        await witness.sees(lambda: runner.status.ready)
        first = runner.status.pid
        (tmp_path / "sick").touch()
        await witness.sees(lambda: runner.status.restarts == 1)
        (tmp_path / "sick").unlink()
        await witness.sees(lambda: runner.status.ready)

        assert runner.status.pid != first
        assert runner.status.restarts >= 1


async def test_a_failure_below_the_threshold_changes_nothing(make: Make, witness: Witness, tmp_path: Path) -> None:
    """The probe fails every second time, the threshold is two in a row."""
    flapping = "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n; test $((n % 2)) = 0"
    runner = make(container_plan(tmp_path, liveness=exec_probe(tmp_path, flapping, failure_threshold=2)))

    async with running(runner):
        await until(lambda: (tmp_path / "n").exists() and int((tmp_path / "n").read_text() or 0) >= 8)

        assert runner.status.restarts == 0
        assert runner.status.ready


async def test_readiness_follows_its_probe_without_a_restart(make: Make, witness: Witness, tmp_path: Path) -> None:
    runner = make(container_plan(tmp_path, readiness=exec_probe(tmp_path, "test -e up", failure_threshold=1)))

    async with running(runner):
        await witness.sees(lambda: runner.status.message.startswith("readiness probe"))
        assert not runner.status.ready
        (tmp_path / "up").touch()
        await witness.sees(lambda: runner.status.ready)
        (tmp_path / "up").unlink()
        await witness.sees(lambda: not runner.status.ready)

        assert runner.status.restarts == 0
        assert runner.status.state == "running"


async def test_readiness_is_lost_only_at_its_threshold(make: Make, witness: Witness, tmp_path: Path) -> None:
    probe = exec_probe(tmp_path, "test ! -e down || { echo x >> fails; false; }", failure_threshold=3)
    runner = make(container_plan(tmp_path, readiness=probe))

    async with running(runner):
        await witness.sees(lambda: runner.status.ready)
        (tmp_path / "down").touch()
        await witness.sees(lambda: not runner.status.ready)

    assert (tmp_path / "fails").read_text().count("x") >= 3


async def test_readiness_needs_as_many_successes_as_asked(make: Make, witness: Witness, tmp_path: Path) -> None:
    runner = make(container_plan(tmp_path, readiness=exec_probe(tmp_path, "echo x >> tries", success_threshold=3)))

    async with running(runner):
        await witness.sees(lambda: runner.status.ready)

    assert (tmp_path / "tries").read_text().count("x") >= 3


async def test_delay_and_period_are_waited_for(witness: Witness, tmp_path: Path) -> None:
    clock = CountingClock()
    probe = exec_probe(tmp_path, "test -e up", initial_delay_seconds=15, period_seconds=30, failure_threshold=3)
    runner = ContainerRunner(container_plan(tmp_path, startup=probe), surroundings(witness, clock))

    async with running(runner):
        await witness.sees(lambda: runner.status.restarts == 1)

    assert clock.slept[:3] == [15, 30, 30]


@pytest.mark.parametrize("which", ["liveness", "readiness"])
async def test_the_next_probe_after_a_success_comes_at_a_steady_pace(witness: Witness, tmp_path: Path, which: str) -> None:
    clock = CountingClock()
    probe = exec_probe(tmp_path, "test -e up || { touch up; false; }", period_seconds=2, steady_seconds=7)
    plan = replace(container_plan(tmp_path), **{which: probe})
    runner = ContainerRunner(plan, surroundings(witness, clock))

    async with running(runner):
        await until(lambda: len(clock.slept) >= 3)

    assert clock.slept[:3] == [0, 2, 7]


@pytest.mark.parametrize("which", ["startup", "liveness"])
async def test_failures_end_a_container_only_when_patience_is_over_too(witness: Witness, tmp_path: Path, which: str) -> None:
    clock = CountingClock()
    probe = exec_probe(tmp_path, "false", period_seconds=1, failure_threshold=2, patience_seconds=5)
    plan = replace(container_plan(tmp_path), startup=probe) if which == "startup" else container_plan(tmp_path, liveness=probe)
    runner = ContainerRunner(plan, surroundings(witness, clock))

    async with running(runner):
        await witness.sees(lambda: runner.status.restarts == 1)

    assert clock.slept[:6] == [0, 1, 1, 1, 1, 1]
    assert 1 not in clock.slept[6:8]


async def test_a_container_that_ends_is_restarted_with_growing_delays(witness: Witness, tmp_path: Path) -> None:
    clock = CountingClock()
    runner = ContainerRunner(container_plan(tmp_path, "exit 3"), surroundings(witness, clock, scale=1))

    async with running(runner):
        await witness.sees(lambda: runner.status.restarts == 5)

    assert clock.slept[:5] == [0, 10, 20, 40, 80]
    assert runner.status.exit_code == 3


async def test_a_container_that_waits_for_its_next_start_says_so(make: Make, witness: Witness, tmp_path: Path) -> None:
    around = surroundings(witness, scale=100)
    runner = ContainerRunner(container_plan(tmp_path, "exit 3"), around)

    async with running(runner):
        await witness.sees(lambda: runner.status.restarts == 1 and runner.status.state == "backing-off")

        assert not runner.status.ready
        assert runner.status.message == "exit code 3"


async def test_a_container_that_ends_by_itself_is_not_blamed_on_its_probes(witness: Witness, tmp_path: Path) -> None:
    probe = exec_probe(tmp_path, "touch probed; exit 1", failure_threshold=NEVER)
    runner = ContainerRunner(
        container_plan(tmp_path, "rm -f probed; until [ -e probed ]; do sleep 0.01; done; exit 3", readiness=probe),
        surroundings(witness, scale=100),
    )

    async with running(runner):
        await witness.sees(lambda: runner.status.restarts == 1 and runner.status.state == "backing-off")

        assert runner.status.message == "exit code 3"


@pytest.mark.parametrize(("policy", "code", "restarts"), [("Never", 1, 0), ("Never", 0, 0), ("OnFailure", 0, 0)])
async def test_restart_policies_that_let_a_container_end(make: Make, tmp_path: Path, policy: str, code: int, restarts: int) -> None:
    runner = make(container_plan(tmp_path, f"exit {code}", restart_policy=policy))

    await runner.run()

    assert runner.status.state == "completed"
    assert runner.status.restarts == restarts
    assert runner.status.exit_code == code


async def test_on_failure_a_container_is_tried_again(make: Make, tmp_path: Path) -> None:
    runner = make(container_plan(tmp_path, "test -e once || { touch once; exit 1; }", restart_policy="OnFailure"))

    await runner.run()

    assert runner.status.restarts == 1
    assert runner.status.exit_code == 0


async def test_a_program_that_cannot_be_executed_is_tried_again_and_named(witness: Witness, tmp_path: Path) -> None:
    clock = CountingClock()
    broken = Launch(argv=["/nowhere/program"], env={}, folder=tmp_path, log=tmp_path / "log")
    runner = ContainerRunner(container_plan(tmp_path, launch=broken), surroundings(witness, clock))

    async with running(runner):
        await witness.sees(lambda: runner.status.restarts == 2)

    assert runner.status.message == "cannot execute /nowhere/program: No such file or directory"
    assert runner.status.exit_code == 127


async def test_a_stop_is_a_sigterm_first(make: Make, witness: Witness, tmp_path: Path) -> None:
    runner = make(container_plan(tmp_path, f"trap 'echo bye; exit 0' TERM; echo up; {FOREVER}"))

    async with running(runner):
        await until(lambda: "up" in tail(runner.plan.launch.log))

    assert tail(runner.plan.launch.log).endswith("bye")
    assert (runner.status.state, runner.status.exit_code) == ("stopped", 0)


async def test_after_the_grace_period_a_stop_is_a_sigkill(make: Make, tmp_path: Path) -> None:
    runner = make(container_plan(tmp_path, STUBBORN, grace_seconds=0.05))

    async with running(runner):
        await until(lambda: "up" in tail(runner.plan.launch.log))

    assert runner.status.exit_code == -signal.SIGKILL


async def test_the_hook_runs_before_sigterm(make: Make, tmp_path: Path) -> None:
    script = f"trap 'echo term >> order; exit 0' TERM; echo up; {FOREVER}"
    hook = PreStop(launch=launch(tmp_path, "echo hook >> order"))
    runner = make(container_plan(tmp_path, script, pre_stop=hook))

    async with running(runner):
        await until(lambda: "up" in tail(runner.plan.launch.log))

    assert (tmp_path / "order").read_text().split() == ["hook", "term"]


async def test_a_hook_that_waits_is_waited_for_within_the_grace_period(witness: Witness, tmp_path: Path) -> None:
    clock = CountingClock()
    around = surroundings(witness, clock)
    runner = ContainerRunner(container_plan(tmp_path, pre_stop=PreStop(sleep_seconds=3)), around)

    async with running(runner):
        await witness.sees(lambda: runner.status.ready)

    assert 3 in clock.slept


async def test_a_hook_that_only_waits_is_cut_when_the_whole_stack_stops(around: Surroundings, witness: Witness, tmp_path: Path) -> None:
    runner = ContainerRunner(container_plan(tmp_path, pre_stop=PreStop(sleep_seconds=10_000), grace_seconds=20_000), around)

    async with running(runner):
        await witness.sees(lambda: runner.status.ready)
        around.leaving.set()

    assert runner.status.state == "stopped"


async def test_a_hook_takes_no_longer_than_the_grace_period(make: Make, witness: Witness, tmp_path: Path) -> None:
    hook = PreStop(launch=launch(tmp_path, FOREVER))
    runner = make(container_plan(tmp_path, pre_stop=hook, grace_seconds=0.1))

    async with running(runner):
        await witness.sees(lambda: runner.status.ready)

    assert runner.status.state == "stopped"


async def test_a_second_wish_to_stop_kills_at_once(around: Surroundings, tmp_path: Path) -> None:
    runner = ContainerRunner(container_plan(tmp_path, STUBBORN, grace_seconds=20_000), around)

    async with running(runner):
        await until(lambda: "up" in tail(runner.plan.launch.log))
        around.hurry.set()

    assert runner.status.exit_code == -signal.SIGKILL


async def test_a_stop_while_backing_off_ends_at_once(witness: Witness, tmp_path: Path) -> None:
    runner = ContainerRunner(container_plan(tmp_path, "exit 1"), surroundings(witness, scale=100))

    async with running(runner):
        await witness.sees(lambda: runner.status.state == "backing-off" and runner.status.restarts == 1)

    assert runner.status.pid is None


def test_pods_restart_their_containers_unless_they_say_otherwise() -> None:
    assert read_restart_policy({}) == "Always"
    assert read_restart_policy({"restartPolicy": "Never"}) == "Never"
