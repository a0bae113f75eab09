"""Pods as a kubelet runs them: init containers in order, then the rest together, and the way back at the end.

`local.stack` runs one `PodRunner` for each pod of the stack.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from local.containers import ContainerPlan, ContainerRunner, ContainerStatus, Surroundings
from local.pods import Pod


@dataclass(frozen=True, slots=True, kw_only=True)
class PodPlan:
    """A pod with its address and its containers ready to run. An init container that always restarts is a sidecar."""

    pod: Pod
    address: str
    init_containers: Sequence[ContainerPlan]
    containers: Sequence[ContainerPlan]


class PodRunner:
    """Runs one pod until it is cancelled; its status is that of its containers."""

    def __init__(self, plan: PodPlan, surroundings: Surroundings) -> None:
        self.plan = plan
        self._around = surroundings
        self._started = asyncio.Event()
        self._stopping = False
        heard = replace(surroundings, changed=self._changed)
        self._init = [ContainerRunner(container, heard) for container in plan.init_containers]
        self._main = [ContainerRunner(container, heard) for container in plan.containers]

    @property
    def containers(self) -> list[ContainerStatus]:
        """Status of sidecars and main containers, in the order of the spec."""
        return [runner.status for runner in (*self._sidecars, *self._main)]

    @property
    def all_containers(self) -> list[ContainerStatus]:
        """The same with init containers that run to their end."""
        return [runner.status for runner in (*self._init, *self._main)]

    @property
    def ready(self) -> bool:
        """Whether every container is ready and the pod is not on its way out."""
        return not self._stopping and all(status.ready for status in self.containers)

    @property
    def restarts(self) -> int:
        """Restarts of all containers together."""
        return sum(status.restarts for status in self.all_containers)

    @property
    def phase(self) -> str:
        """The word `kubectl get pods` shows: Init, Running, CrashLoopBackOff, Error, Terminating."""
        statuses = self.all_containers
        if self._stopping:
            return "Terminating"
        if any(status.state == "backing-off" and status.restarts > 0 for status in statuses):
            return "CrashLoopBackOff"
        if any(status.state == "backing-off" for status in statuses):
            return "Error"
        if any(status.state == "waiting" for status in self.containers):
            return "Init" if self._init else "Pending"
        return "Running"

    @property
    def message(self) -> str:
        """What the first container that is not ready has to say."""
        return next((f"{status.name}: {status.message}" for status in self.all_containers if status.message and not status.ready), "")

    async def run(self) -> None:
        """Start everything in order and keep it running; at the end the main containers go before the sidecars."""
        try:
            async with asyncio.TaskGroup() as sidecars:
                for runner in self._init:
                    if runner.plan.restart_policy == "Always":
                        sidecars.create_task(runner.run())
                        await self._wait_started(runner.status)
                    else:
                        await runner.run()
                async with asyncio.TaskGroup() as containers:
                    for runner in self._main:
                        containers.create_task(runner.run())
        finally:
            self._stopping = True
            self._around.changed()

    def stop_serving(self) -> None:
        """Take the pod out of service, as a deletion does before any process hears of it."""
        self._stopping = True
        self._around.changed()

    @property
    def _sidecars(self) -> list[ContainerRunner]:
        return [runner for runner in self._init if runner.plan.restart_policy == "Always"]

    async def _wait_started(self, status: ContainerStatus) -> None:
        while not status.started:
            self._started.clear()
            await self._started.wait()

    def _changed(self) -> None:
        self._started.set()
        self._around.changed()
