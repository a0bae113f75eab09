"""`mmserve run`: a stack on this machine, under a live table, or checked and stopped."""

import asyncio
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import aiohttp
import typer
from rich.console import Console
from rich.live import Live

from cli.stack_choice import UsageError, choose
from cli.verification.checks import Target, Verification
from cli.verification.client import Client
from cli.verification.counters import DirectCounters
from cli.verification.pictures import COLOURS, PNG, data_url, png
from cli.verification.report import Report
from cli.verification.requests import QUESTION
from local.clock import RealClock
from local.images import DEFAULT_PROFILE, ROOT, Play, Programs
from local.interruption import Interruption, interruptible
from local.layout import RunSettings
from local.plan import StackPlan, plan_stack
from local.pods import DEFAULT_REPLICAS, asked_for
from local.propagation import wait_known
from local.record import evaluate
from local.stack import Housekeeping, LocalStack, play
from local.status import Readings, drawing, plain, read, rows

CHECK_PROFILE = "fast"  # a check looks at answers and counters, not at time
LOG_FOLDER = ROOT / ".mmserve" / "logs"
REFRESH_SECONDS = 1.0
READY_TIMEOUT_SECONDS = 60.0
PIPE_WIDTH = 180


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What the command line asks of a run."""

    check: bool
    as_json: bool
    settings: RunSettings
    ready_timeout_seconds: float
    keep_logs: Path | None


def run(  # noqa: PLR0913 - one parameter an option
    *,
    stack: Annotated[str | None, typer.Option(help="Read Pulumi.<NAME>.yaml; without it the defaults.", metavar="NAME")] = None,
    assignments: Annotated[
        list[str] | None, typer.Option("--set", help="Override one key, for example tiers.decode.replicas=2.", metavar="KEY=VALUE")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Verify the running stack, then stop; exit code 0 or 1.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only: the report of --check, or the URL and pods.")] = False,
    replicas: Annotated[
        str, typer.Option(help="At most this many pods a workload, or `full` for as many as the stack says.", metavar="N|full")
    ] = str(DEFAULT_REPLICAS),
    probe_scale: Annotated[float, typer.Option(help="Multiplies delays, periods and graces of the pods.", min=0.001, max=10)] = 0.1,
    sim_profile: Annotated[
        str | None, typer.Option(help=f"Timing of the simulated model ({DEFAULT_PROFILE}; with --check {CHECK_PROFILE}).")
    ] = None,
    ready_timeout: Annotated[float, typer.Option(help="Seconds until every pod must be ready.", min=1)] = READY_TIMEOUT_SECONDS,
    instance: Annotated[
        str | None, typer.Option(help="Run beside another run of the same stack: the addresses follow from this name.", metavar="NAME")
    ] = None,
    keep_logs: Annotated[bool, typer.Option("--keep-logs", help="Keep the containers' logs in .mmserve/logs.")] = False,
) -> int:
    """Start a stack on this machine: real Envoy, the engine, simulated model servers. Ctrl-C stops it.

    Example: mmserve run --set tiers.decode.replicas=2 --check
    """
    limit = _limit(replicas)
    console = open_console(as_json=as_json)
    choice = choose(stack, assignments or [])
    console.print(f"evaluating the program for stack {choice.stack}")
    recording = evaluate(choice.config, stack=choice.stack, secrets=choice.secrets)
    plan = plan_stack(instance or choice.stack, recording.objects, limit=limit, model=recording.exports.get("model"))
    if (whole := asked_for(recording.objects)) > len(plan.pods):
        console.print(f"playing {len(plan.pods)} of the stack's {whole} pods; --replicas full plays all")
    options = RunOptions(
        check=check,
        as_json=as_json,
        settings=RunSettings(
            programs=Programs.find(),
            play=Play(sim_profile=sim_profile or (CHECK_PROFILE if check else DEFAULT_PROFILE)),
            scale=probe_scale,
        ),
        ready_timeout_seconds=ready_timeout,
        keep_logs=LOG_FOLDER / choice.stack if keep_logs else None,
    )
    return asyncio.run(Session(plan, options, console).run())


def _limit(replicas: str) -> int | None:
    if replicas == "full":
        return None
    if not (replicas.isascii() and replicas.isdecimal()) or int(replicas) < 1:  # other scripts have digits, too
        raise UsageError(f"--replicas {replicas}: allowed are `full` and whole numbers from 1")
    return int(replicas)


class Session:
    """One run from start to stop, as a person at a terminal or a machine behind a pipe sees it."""

    def __init__(self, plan: StackPlan, options: RunOptions, console: Console) -> None:
        self._plan = plan
        self._options = options
        self._console = console
        self._served = False

    async def run(self) -> int:
        """Start, then show or check, then stop. Returns the exit code."""
        task = asyncio.current_task()
        assert task is not None
        if self._options.keep_logs is not None:
            shutil.rmtree(self._options.keep_logs, ignore_errors=True)
        with interruptible(task) as interruption:
            try:
                return await self._play(interruption)
            except asyncio.CancelledError:
                if interruption.signal is None:
                    raise
                self._console.print("stopped")
                return 0 if self._served and not self._options.check else interruption.exit_code

    async def _play(self, interruption: Interruption) -> int:
        options = self._options
        house = Housekeeping(clock=RealClock(), hurry=interruption.hurry, keep_logs=options.keep_logs)
        self._console.print(f"starting {len(self._plan.pods)} pods")
        async with play(self._plan, options.settings, house) as stack, aiohttp.ClientSession() as session:
            progress = Progress(self._console, stack)
            await stack.wait_ready(options.ready_timeout_seconds, progress)
            progress()
            await wait_known(session, self._plan, house.clock, options.ready_timeout_seconds)
            for text in stack.warnings():
                self._console.print(f"warning: model server flag {text}; a real one may refuse it", soft_wrap=True, markup=False)
            self._served = True
            if options.check:
                return await self._check(session)
            await self._show(stack, session)
        return 0

    async def _check(self, session: aiohttp.ClientSession) -> int:
        counters = DirectCounters(session, {pod.name: url for pod, url in self._plan.model_servers})
        target = Target(url=self._plan.url, model=self._plan.model, client=Client(session, self._plan.url), counters=counters, local=True)
        report = await Verification(target, lambda text: self._console.print(f"checking: {text}")).run()
        show_report(report, self._console, as_json=self._options.as_json)
        return 0 if report.ok else 1

    async def _show(self, stack: LocalStack, session: aiohttp.ClientSession) -> None:
        """Until interrupted: the live table on a terminal, a line a change elsewhere."""
        if self._options.as_json:
            pods = [{"name": pod.name, "url": url} for pod, url in self._plan.model_servers]
            typer.echo(json.dumps({"url": self._plan.url, "model": self._plan.model, "pods": pods}))
        self._console.print(f"\nready at {self._plan.url}\nfrom another terminal:\n", markup=False)
        self._console.print(curl(self._plan), soft_wrap=True, markup=False)
        self._console.print("\nCtrl-C stops everything\n")
        if not self._console.is_terminal:
            await self._print_changes(stack, session)
            return
        with Live(console=self._console, auto_refresh=False) as live:
            while True:
                live.update(drawing(rows(stack, await read(session, self._plan)), self._console.width), refresh=True)
                await asyncio.sleep(REFRESH_SECONDS)

    async def _print_changes(self, stack: LocalStack, session: aiohttp.ClientSession) -> None:
        shown: dict[str, str] = {}
        while True:
            for row in rows(stack, await read(session, self._plan)):
                line = plain(row)
                if shown.get(row.name) != line:
                    self._console.print(line, soft_wrap=True, markup=False)
                    shown[row.name] = line
            await asyncio.sleep(REFRESH_SECONDS)


class Progress:
    """Prints a line whenever another pod gets ready or a container restarts."""

    def __init__(self, console: Console, stack: LocalStack) -> None:
        self._console = console
        self._stack = stack
        self._shown: dict[str, tuple[bool, int]] = {}

    def __call__(self) -> None:
        """Look at the pods again."""
        lines = {row.name: row for row in rows(self._stack, Readings())}
        for pod in self._stack.pods:
            name = pod.plan.pod.name
            state = (pod.ready, pod.restarts)
            if self._shown.get(name, (False, 0)) != state:
                self._shown[name] = state
                done = sum(ready for ready, _ in self._shown.values())
                row = lines[name]
                said = f"{name} role={row.role}" if pod.ready and not pod.restarts else plain(row)
                self._console.print(f"{done}/{len(self._stack.pods)} ready  {said}", soft_wrap=True, markup=False)


def curl(plan: StackPlan) -> str:
    """A command that sends a picture, ready to be pasted into a shell."""
    picture = {"type": "image_url", "image_url": {"url": data_url(png(COLOURS["red"]), PNG)}}
    content = [picture, {"type": "text", "text": QUESTION}]
    body = {"model": plan.model, "messages": [{"role": "user", "content": content}], "max_tokens": 64}
    return f"curl -s {plan.url}/v1/chat/completions -H 'Content-Type: application/json' -d '{json.dumps(body)}' -w '\\n'"


def open_console(*, as_json: bool) -> Console:
    """Standard output, or standard error where that is for JSON alone. A pipe has no width, so lines are not folded to 80 there."""
    console = Console(stderr=as_json, highlight=False)
    return console if console.is_terminal else Console(stderr=as_json, highlight=False, width=PIPE_WIDTH)


def show_report(report: Report, console: Console, *, as_json: bool) -> None:
    """The report on standard output: as a table, or as JSON and nothing else."""
    if as_json:
        typer.echo(report.as_json())
        return
    console.print(report.as_table())
    console.print(f"\n{'PASSED' if report.ok else 'FAILED'}: {report.summary} against {report.url}", markup=False)
