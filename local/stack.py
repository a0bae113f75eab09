"""A stack from start to end: folder, guard, pods, endpoint files – and nothing left afterwards."""

import asyncio
import contextlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import dataclass, replace
from pathlib import Path

from local import guard
from local.clock import Clock
from local.containers import Surroundings
from local.discovery import EndpointFile
from local.errors import NotReadyError
from local.kubelet import PodRunner
from local.layout import LOGS, Layout, RunSettings
from local.plan import StackPlan
from local.pods import Pod
from local.ports import claimed, require_free
from local.processes import tail

CRASHES = 3  # restarts of a container before it was ever ready: it will not get better by waiting
PREFIX = "mmserve-"
WARNING = "simulator: flag "  # how the simulator's lines about flags begin


class LocalStack:
    """A running stack: its pods, and how to wait for them."""

    def __init__(self, plan: StackPlan, layout: Layout, around: Surroundings) -> None:
        self.plan = plan
        self._layout = layout
        self._pulse = asyncio.Event()
        heard = replace(around, changed=self._changed)
        self.pods = [PodRunner(layout.prepare(pod), heard) for pod in plan.pods]
        self._files = [EndpointFile(layout.endpoint_file(pod), plan.pools[pod.key]) for pod in plan.pods if pod.key in plan.pools]
        self._write_endpoints()

    @property
    def ready(self) -> bool:
        """Whether every pod is ready."""
        return all(pod.ready for pod in self.pods)

    async def wait_ready(self, timeout_seconds: float, progress: Callable[[], None] = lambda: None) -> None:
        """Return when every pod is ready; raises NotReadyError with the tail of a log when one crashes again and again or time is over."""
        try:
            async with asyncio.timeout(timeout_seconds):
                while not self.ready:
                    progress()
                    self._refuse_crash_loops()
                    await self.wait_change()
        except TimeoutError:
            raise NotReadyError(
                self._complaint(next(pod for pod in self.pods if not pod.ready), f"not ready after {timeout_seconds:g} s")
            ) from None

    def log(self, pod: Pod, container: str) -> Path:
        """Where a container writes; gone with the stack."""
        return self._layout.log(pod, container)

    def warnings(self) -> list[str]:
        """What simulated model servers said about flags that have no effect on them, each text once."""
        logs = [self.log(pod, container["name"]) for pod, _ in self.plan.model_servers for container in pod.containers]
        lines = [line for log in logs if log.exists() for line in log.read_text(errors="replace").splitlines()]
        return sorted({line.removeprefix(WARNING) for line in lines if line.startswith(WARNING)})

    async def wait_change(self) -> None:
        """Return at the next change of any pod."""
        self._pulse.clear()
        await self._pulse.wait()

    def stop_serving(self) -> None:
        """Take every pod out of service."""
        for pod in self.pods:
            pod.stop_serving()

    def _refuse_crash_loops(self) -> None:
        for pod in self.pods:
            if not pod.ready and any(status.restarts >= CRASHES for status in pod.all_containers):
                raise NotReadyError(self._complaint(pod, f"{pod.phase}, {pod.restarts} restarts"))

    def _complaint(self, pod: PodRunner, what: str) -> str:
        culprit = next((status for status in pod.all_containers if not status.ready and status.state != "completed"), pod.all_containers[0])
        lines = tail(self._layout.log(pod.plan.pod, culprit.name)).splitlines()
        log = "\n".join(dict.fromkeys(lines)) or "(empty)"  # every restart writes the same again
        message = culprit.message or (f"exit code {culprit.exit_code}" if culprit.exit_code is not None else culprit.state)
        return f"pod {pod.plan.pod.name} did not get ready: {what}\ncontainer {culprit.name}: {message}\nend of its log:\n{log}"

    def _changed(self) -> None:
        self._write_endpoints()
        self._pulse.set()

    def _write_endpoints(self) -> None:
        ready = [(pod.plan.pod, pod.plan.address) for pod in self.pods if pod.ready]
        for file in self._files:
            file.write(ready)


@dataclass(frozen=True, slots=True, kw_only=True)
class Housekeeping:
    """Around a run: the clock, the wish to be quick about stopping, and where logs are kept (None: nowhere)."""

    clock: Clock
    hurry: asyncio.Event
    keep_logs: Path | None = None


@contextlib.asynccontextmanager
async def play(plan: StackPlan, settings: RunSettings, house: Housekeeping) -> AsyncGenerator[LocalStack]:
    """Start the stack; on the way out, however that comes, stop every pod and remove every trace.

    Raises LocalError before anything is started where a port is taken or a program is missing.
    """
    require_free(plan.ports)
    with claimed(plan.addresses[plan.pods[0].key]), _run_folder(house.keep_logs) as folder, _guarded(folder):
        around = Surroundings(clock=house.clock, scale=settings.scale, changed=lambda: None, leaving=asyncio.Event(), hurry=house.hurry)
        stack = LocalStack(plan, Layout(plan, folder, settings), around)
        failure: Exception | None = None
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(pod.run(), name=pod.plan.pod.name) for pod in stack.pods]
            try:
                yield stack
            except Exception as error:  # raised again below as itself, not as a member of a group
                failure = error
            finally:
                around.leaving.set()
                stack.stop_serving()
                for task in tasks:
                    task.cancel()
        if failure is not None:
            raise failure


@contextlib.contextmanager
def _run_folder(keep_logs: Path | None) -> Generator[Path]:
    """A folder for one run that only its owner can read, gone afterwards; logs are copied to `keep_logs`."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
    try:
        yield folder
    finally:
        if keep_logs is not None and (folder / LOGS).exists():
            shutil.copytree(folder / LOGS, keep_logs, dirs_exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _guarded(folder: Path) -> Generator[None]:
    """A guard process that cleans up should this one be killed; and the last look for processes that outlived their container."""
    watcher = subprocess.Popen(  # noqa: S603 - this Python and a file of this package
        [sys.executable, "-I", "-S", guard.__file__, str(folder)], stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        yield
    finally:
        guard.kill_marked(str(folder))
        assert watcher.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            watcher.stdin.write(guard.DONE)
            watcher.stdin.close()
        watcher.wait()
