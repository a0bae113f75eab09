"""One container as a kubelet runs it: start, probes, restart, end.

The startup probe holds the other two back. A failed startup or liveness probe ends the process, which then restarts with
back-off; a failed readiness probe only takes the pod out of service. `local.kubelet` makes pods of these.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from local.backoff import Backoff
from local.clock import Clock
from local.probes import Probe, attempt
from local.processes import ContainerProcess, Launch, run_command

State = Literal["waiting", "running", "backing-off", "completed", "stopping", "stopped"]
RestartPolicy = Literal["Always", "OnFailure", "Never"]
CANNOT_EXECUTE = 127  # the code a shell gives when a program cannot be started


@dataclass(frozen=True, slots=True, kw_only=True)
class PreStop:
    """What is done before a container gets SIGTERM: a command, a request, or a wait."""

    launch: Launch | None = None
    request: Probe | None = None
    sleep_seconds: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerPlan:
    """Everything needed to run one container."""

    name: str
    launch: Launch
    restart_policy: RestartPolicy = "Always"
    startup: Probe | None = None
    liveness: Probe | None = None
    readiness: Probe | None = None
    pre_stop: PreStop | None = None
    grace_seconds: float = 30


@dataclass(slots=True, kw_only=True)
class ContainerStatus:
    """What a container is doing now; written by its runner alone."""

    name: str
    state: State = "waiting"
    started: bool = False
    ready: bool = False
    restarts: int = 0
    exit_code: int | None = None
    message: str = ""
    pid: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What every runner shares: time, its scale, who hears of changes, and how urgent a stop is.

    `leaving` is set when the whole stack stops: nobody is left to drain to, so hooks that only wait are cut short. `hurry`
    is set when a person asks a second time: everything is killed.
    """

    clock: Clock
    scale: float
    changed: Callable[[], None]
    leaving: asyncio.Event
    hurry: asyncio.Event


class ContainerRunner:
    """Runs one container until it is cancelled, or to its end where its restart policy says so."""

    def __init__(self, plan: ContainerPlan, surroundings: Surroundings) -> None:
        self.plan = plan
        self.status = ContainerStatus(name=plan.name)
        self._around = surroundings
        self._backoff = Backoff(surroundings.scale)
        self._killed = False  # whether a probe ended the present run

    async def run(self) -> None:
        """Keep the container running; its end by cancellation is orderly: hook, SIGTERM, grace, SIGKILL."""
        clock = self._around.clock
        while True:
            began = clock.now()
            code = await self._run_once()
            self._note(started=False, ready=False, exit_code=code, pid=None)
            if self.plan.restart_policy == "Never" or (self.plan.restart_policy == "OnFailure" and code == 0):
                self._note(state="completed")
                return
            delay = self._backoff.delay(clock.now() - began)
            self._note(state="backing-off")
            await clock.sleep(delay)
            self._note(restarts=self.status.restarts + 1)

    async def _run_once(self) -> int:
        self._killed = False
        try:
            process = await ContainerProcess.start(self.plan.launch)
        except OSError as error:
            self._note(message=f"cannot execute {self.plan.launch.argv[0]}: {error.strerror}")
            return CANNOT_EXECUTE
        self._note(state="running", pid=process.pid, message="")
        try:
            async with asyncio.TaskGroup() as group:
                watcher = group.create_task(self._watch(process))
                code = await process.wait()
                watcher.cancel()
            if not self._killed and (code != 0 or self.plan.restart_policy == "Always"):
                self._note(message=f"exit code {code}")  # that a probe finds nobody is no news then
            return code
        finally:
            await self._end(process)

    async def _end(self, process: ContainerProcess) -> None:
        """Stop a process that still runs, which is so when the runner was cancelled."""
        if process.exit_code is not None:
            return
        self._note(state="stopping", ready=False)
        await self._terminate(process)
        self._note(state="stopped", started=False, exit_code=process.exit_code, pid=None)

    async def _terminate(self, process: ContainerProcess) -> None:
        """The hook counts against the grace period; a process is always given two seconds after it, as by a kubelet."""
        began = self._around.clock.now()
        if self.plan.pre_stop is not None and not self._around.hurry.is_set():
            await self._run_hook(self.plan.pre_stop)
        left = self.plan.grace_seconds - (self._around.clock.now() - began)
        await process.terminate(max(left, 2 * self._around.scale), self._around.hurry)

    async def _run_hook(self, hook: PreStop) -> None:
        try:
            async with asyncio.timeout(self.plan.grace_seconds), asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(_hook_work(hook, self._around.clock, self.plan.grace_seconds)),
                    group.create_task(self._around.hurry.wait()),
                ]
                if hook.sleep_seconds:
                    tasks.append(group.create_task(self._around.leaving.wait()))
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in tasks:
                    task.cancel()
        except TimeoutError:
            self._note(message="the preStop hook took the whole grace period")

    async def _watch(self, process: ContainerProcess) -> None:
        """Probe one run of the container until it ends."""
        if self.plan.startup is not None and not await self._starts(self.plan.startup):
            await self._kill(process, "startup")
            return
        self._note(started=True, ready=self.plan.readiness is None)
        async with asyncio.TaskGroup() as group:
            readiness = group.create_task(self._keep_ready(self.plan.readiness))
            await self._outlive(self.plan.liveness)
            readiness.cancel()
        await self._kill(process, "liveness")

    async def _starts(self, probe: Probe) -> bool:
        """Whether the startup probe succeeds before its failures reach the threshold."""
        began = self._around.clock.now()
        await self._around.clock.sleep(probe.initial_delay_seconds)
        failures = 0
        while True:
            fine, message = await attempt(probe)
            if fine:
                return True
            failures += 1
            self._note(message=f"startup probe: {message}")
            if failures >= probe.failure_threshold and self._around.clock.now() - began >= probe.patience_seconds:
                return False
            await self._around.clock.sleep(probe.period_seconds)

    async def _outlive(self, probe: Probe | None) -> None:
        """Return when the liveness probe has failed as often as it may; never without one."""
        if probe is None:
            await asyncio.Event().wait()
            return
        lived = self._around.clock.now()
        await self._around.clock.sleep(probe.initial_delay_seconds)
        failures = 0
        while True:
            fine, message = await attempt(probe)
            if fine:
                failures, lived = 0, self._around.clock.now()
            else:
                failures += 1
                self._note(message=f"liveness probe: {message}")
            if failures >= probe.failure_threshold and self._around.clock.now() - lived >= probe.patience_seconds:
                return
            await self._around.clock.sleep(probe.pause_seconds if fine else probe.period_seconds)

    async def _keep_ready(self, probe: Probe | None) -> None:
        if probe is None:
            return
        await self._around.clock.sleep(probe.initial_delay_seconds)
        failures = successes = 0
        while True:
            fine, message = await attempt(probe)
            failures, successes = (0, successes + 1) if fine else (failures + 1, 0)
            if fine and successes >= probe.success_threshold:
                self._note(ready=True, message="")
            elif failures >= probe.failure_threshold:
                self._note(ready=False, message=f"readiness probe: {message}")
            elif not fine and not self.status.ready:
                self._note(message=f"readiness probe: {message}")
            await self._around.clock.sleep(probe.pause_seconds if fine else probe.period_seconds)

    async def _kill(self, process: ContainerProcess, which: str) -> None:
        self._killed = True
        self._note(ready=False, message=f"{which} probe failed: {self.status.message}")
        await self._terminate(process)

    def _note(self, **changes: Any) -> None:
        """Write the status and tell who listens, if anything is new."""
        if any(getattr(self.status, name) != value for name, value in changes.items()):
            for name, value in changes.items():
                setattr(self.status, name, value)
            self._around.changed()


async def _hook_work(hook: PreStop, clock: Clock, limit_seconds: float) -> None:
    if hook.launch is not None:
        await run_command(hook.launch, limit_seconds)
    elif hook.request is not None:
        await attempt(hook.request)
    else:
        await clock.sleep(hook.sleep_seconds)


def read_restart_policy(pod_spec: Mapping[str, Any]) -> RestartPolicy:
    """The restart policy of a pod's main containers."""
    return pod_spec.get("restartPolicy", "Always")
