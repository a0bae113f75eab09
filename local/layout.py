"""Lays a pod out in the folder of a run: volumes, rewritten documents, command lines, environment, probes.

Everything a kubelet needs to know about a pod comes out of here as a `PodPlan`; nothing is started.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.containers import ContainerPlan, PreStop, read_restart_policy
from local.discovery import with_file_discovery
from local.guard import MARK
from local.images import ROOT, Play, Programs, command_line, kind_of
from local.kubelet import PodPlan
from local.mounts import Filesystem, PathTable, document_rewriter, environment, expand
from local.plan import StackPlan
from local.pods import Pod
from local.probes import read_probe
from local.processes import Launch

DEFAULT_GRACE_SECONDS = 30
LOGS = "logs"
SEARCH_PATHS = ("PATH", "LD_LIBRARY_PATH")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """How a stack is played on this machine. `scale` multiplies every delay, period and grace of the pods."""

    programs: Programs
    play: Play
    scale: float


class Layout:
    """Prepares the pods of one stack below one folder."""

    def __init__(self, plan: StackPlan, folder: Path, settings: RunSettings) -> None:
        self._plan = plan
        self._folder = folder
        self._settings = settings

    def endpoint_file(self, pod: Pod) -> Path:
        """Where the engine of this pod reads its endpoints."""
        return self._folder / "endpoints" / f"{pod.name}.yaml"

    def log(self, pod: Pod, container: str) -> Path:
        """The log file of a container."""
        return self._folder / LOGS / pod.name / f"{container}.log"

    def prepare(self, pod: Pod) -> PodPlan:
        """Write the pod's files and return what to run."""
        address = self._plan.addresses[pod.key]
        home = self._folder / "pods" / pod.name
        (home / "tmp").mkdir(parents=True, exist_ok=True)
        volumes = Filesystem(pod, address, home / "volumes", self._plan.documents)
        everything = (*pod.init_containers, *pod.containers)
        mounts = {path: folder for container in everything for path, folder in volumes.mounts(container).items()}
        volumes.create(self._document_rewriter(pod, PathTable(mounts)))
        return PodPlan(
            pod=pod,
            address=address,
            init_containers=[self._container(pod, container, volumes, home, init=True) for container in pod.init_containers],
            containers=[self._container(pod, container, volumes, home, init=False) for container in pod.containers],
        )

    def _document_rewriter(self, pod: Pod, paths: PathTable) -> Callable[[str], str]:
        rewrite = document_rewriter(self._plan.table(pod), paths)
        if pod.key not in self._plan.pools:
            return rewrite
        endpoints = self.endpoint_file(pod)
        return lambda text: with_file_discovery(rewrite(text), endpoints)

    def _container(self, pod: Pod, container: Mapping[str, Any], volumes: Filesystem, home: Path, *, init: bool) -> ContainerPlan:
        address, scale = self._plan.addresses[pod.key], self._settings.scale
        addresses, paths = self._plan.table(pod), PathTable(volumes.mounts(container))

        def rewrite(text: str) -> str:
            return paths.text(addresses.text(text))

        given = environment(container, pod, address, self._plan.documents, rewrite)
        env = {**self._surroundings(home), **given}
        log = self.log(pod, container["name"])

        def launch(argv: Sequence[str]) -> Launch:
            return Launch(argv=[rewrite(expand(word, given)) for word in argv], env=env, folder=home, log=log)

        def probe(name: str) -> Any:
            return read_probe(container.get(name), everything, address, scale, launch)

        everything = (*pod.init_containers, *pod.containers)
        words = self._argv(container, [rewrite(expand(word, given)) for word in container.get("args") or []], address)
        return ContainerPlan(
            name=container["name"],
            launch=Launch(argv=words, env=env, folder=home, log=log),
            restart_policy=_restart_policy(container, pod, init=init),
            startup=probe("startupProbe"),
            liveness=probe("livenessProbe"),
            readiness=probe("readinessProbe"),
            pre_stop=_pre_stop(container, everything, address, scale, launch),
            grace_seconds=pod.spec.get("terminationGracePeriodSeconds", DEFAULT_GRACE_SECONDS) * scale,
        )

    def _argv(self, container: Mapping[str, Any], args: Sequence[str], address: str) -> list[str]:
        arguments = list(args)
        if kind_of(container) == "engine":
            arguments = list(container.get("command") or [])[3:] + arguments  # after `python -m router.engine`
        return command_line(container, arguments, address, self._settings.programs, self._settings.play)

    def _surroundings(self, home: Path) -> dict[str, str]:
        """What a container's image would bring. Nothing of the caller's environment but the search paths, so that runs are alike."""
        return {
            **{name: os.environ[name] for name in SEARCH_PATHS if name in os.environ},
            "LANG": "C.UTF-8",
            "HOME": str(home),
            "TMPDIR": str(home / "tmp"),
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
            MARK: str(self._folder),
        }


def _restart_policy(container: Mapping[str, Any], pod: Pod, *, init: bool) -> Any:
    if not init:
        return read_restart_policy(pod.spec)
    return "Always" if container.get("restartPolicy") == "Always" else "OnFailure"


def _pre_stop(
    container: Mapping[str, Any],
    containers: Sequence[Mapping[str, Any]],
    address: str,
    scale: float,
    launch: Callable[[Sequence[str]], Launch],
) -> PreStop | None:
    hook = (container.get("lifecycle") or {}).get("preStop")
    if hook is None:
        return None
    if "sleep" in hook:
        return PreStop(sleep_seconds=hook["sleep"]["seconds"] * scale)
    command: Sequence[str] = (hook.get("exec") or {}).get("command") or []
    if len(command) == 2 and command[0] == "sleep" and command[1].replace(".", "", 1).isdigit():
        return PreStop(sleep_seconds=float(command[1]) * scale)  # the older spelling of the same
    if "exec" in hook:
        return PreStop(launch=launch(hook["exec"]["command"]))
    return PreStop(request=read_probe(hook, containers, address, scale, launch))
