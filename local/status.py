"""What each pod is doing: the live table of `mmserve run`.

Readiness and restarts come from the kubelet, requests and cache hits from the pods' own metrics, tokens in flight from
the engine's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import aiohttp
from rich.console import Group
from rich.table import Table
from rich.text import Text

from local.counters import Counters, fetch_all, fetch_text, read_counters, samples
from local.plan import StackPlan
from local.stack import LocalStack

TOKENS_IN_FLIGHT = ("llm_d_epp_inflight_tokens",)
RANK_SUFFIX = "-rank-0"
WIDE = 160  # columns from which whole names of pods fit
MIDDLE = 120  # columns from which addresses fit, and more than the suffix of a name
NAME_END = 11  # the suffix of a pod's name and some of what is before it
SUFFIX = 5  # the part of a name that no two pods share


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One pod's line. Counters are None for a pod that serves no model, and while it does not answer."""

    name: str
    role: str
    address: str
    phase: str
    ready: str
    restarts: int
    counters: Counters | None = None
    tokens_in_flight: int | None = None
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """What the programs of a stack last published."""

    counters: Mapping[str, Counters] = field(default_factory=dict[str, Counters])
    tokens_in_flight: Mapping[str, float] = field(default_factory=dict[str, float])


async def read(session: aiohttp.ClientSession, plan: StackPlan) -> Readings:
    """Ask every model server and every engine once; those that do not answer are left out."""
    texts = await fetch_all(session, {pod.name: f"{url}/metrics" for pod, url in plan.model_servers})
    tokens: dict[str, float] = {}
    for _, url in plan.engines:
        tokens.update(_tokens_in_flight(await fetch_text(session, url) or ""))
    return Readings(counters={name: read_counters(text) for name, text in texts.items() if text is not None}, tokens_in_flight=tokens)


def rows(stack: LocalStack, readings: Readings) -> list[Row]:
    """One row a pod, the router first."""
    serving = {pod.name for pod, _ in stack.plan.model_servers}
    return [
        Row(
            name=pod.plan.pod.name,
            role=pod.plan.pod.role,
            address=pod.plan.address,
            phase=pod.phase,
            ready=f"{sum(status.ready for status in pod.containers)}/{len(pod.containers)}",
            restarts=pod.restarts,
            counters=readings.counters.get(pod.plan.pod.name),
            tokens_in_flight=int(readings.tokens_in_flight.get(pod.plan.pod.name, 0)) if pod.plan.pod.name in serving else None,
            message="" if pod.ready else pod.message,
        )
        for pod in stack.pods
    ]


def drawing(lines: Sequence[Row], width: int) -> Group:
    """The rows for a terminal of `width` columns: the table, and below it what pods that are not ready have to say."""
    messages = [Text(f"{_short(row.name, width)} {row.message}", style="yellow") for row in lines if row.message]
    return Group(table(lines, width), *messages)


def table(lines: Sequence[Row], width: int) -> Table:
    """The rows as a table. Where there is no room for whole names, their ends tell pods apart; 80 columns hold it without addresses."""
    addresses = width >= MIDDLE
    result = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1) if addresses else (0, 1, 0, 0))
    for heading in ("POD", "ROLE", "ADDRESS", "STATUS") if addresses else ("POD", "ROLE", "STATUS"):
        result.add_column(heading, no_wrap=heading != "STATUS", overflow="fold")  # a status is said again below the table
    for heading in ("READY", "RESTARTS", "REQUESTS", "TOKENS IN\nFLIGHT", "PREFIX\nHITS", "MM\nHITS"):
        result.add_column(heading, justify="right", no_wrap=True)
    for row in lines:
        counted = row.counters
        style = "green" if row.phase == "Running" and not row.message else "yellow"
        result.add_row(
            _short(row.name, width),
            row.role,
            *((row.address,) if addresses else ()),
            Text(row.phase, style="red" if row.phase in ("CrashLoopBackOff", "Error") else style),
            row.ready,
            str(row.restarts),
            *(
                (f"{counted.requests:.0f}", str(row.tokens_in_flight or 0), _share(counted.prefix_hits, counted.prefix_queries),
                 _share(counted.media_hits, counted.media_queries))
                if counted is not None
                else ("-", "-", "-", "-")
            ),
        )  # fmt: skip
    return result


def plain(row: Row) -> str:
    """One row as a line of `key=value` words, for logs and pipes."""
    counted = row.counters
    words = [row.name, f"role={row.role}", f"status={row.phase}", f"ready={row.ready}", f"restarts={row.restarts}"]
    if counted is not None:
        words += [f"requests={counted.requests:.0f}", f"tokens_in_flight={row.tokens_in_flight or 0}"]
        words += [f"prefix_hits={counted.prefix_hits:.0f}", f"mm_hits={counted.media_hits:.0f}"]
    return " ".join([*words, *([f"({row.message})"] if row.message else [])])


def _short(name: str, width: int) -> str:
    end = NAME_END if width >= MIDDLE else SUFFIX
    return name if width >= WIDE or len(name) <= end else f"…{name[-end:]}"


def _share(hits: float, queries: float) -> str:
    return f"{hits:.0f} ({hits / queries:.0%})" if queries else f"{hits:.0f}"


def _tokens_in_flight(text: str) -> dict[str, float]:
    """Tokens by pod: the engine names an endpoint `pod-rank-0`, or as it is called in the endpoints' document."""
    totals: dict[str, float] = {}
    for _, labels, value in samples(text, TOKENS_IN_FLIGHT):
        name = labels.get("endpoint_name", "").removesuffix(RANK_SUFFIX)
        totals[name] = totals.get(name, 0.0) + value
    return totals
