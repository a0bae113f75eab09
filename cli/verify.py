"""`mmserve verify`: the checks of `mmserve run --check` against a stack that is already running."""

import asyncio
import ipaddress
from typing import Annotated
from urllib.parse import urlsplit

import aiohttp
import typer
from rich.console import Console

from cli.run import open_console, show_report
from cli.stack_choice import UsageError
from cli.verification.checks import Target, Verification
from cli.verification.client import Client
from cli.verification.counters import CounterSource, DirectCounters, KubectlCounters
from cli.verification.report import Report
from local.errors import LocalError


def verify(
    url: Annotated[str, typer.Option(help="Where clients reach the stack.", metavar="URL")],
    pod: Annotated[
        list[str] | None, typer.Option(help="A model server pod and where its /metrics is; once a pod.", metavar="NAME=URL")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Model to ask for; without it the first that the stack serves.")] = None,
    namespace: Annotated[str | None, typer.Option(help="Read the pods' counters with kubectl: their namespace.")] = None,
    selector: Annotated[str | None, typer.Option(help="Read the pods' counters with kubectl: their labels, as KEY=VALUE.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON and nothing else.")] = False,
) -> int:
    """Send real multimodal requests to a running stack and compare answers and counters with what must hold.

    Example: mmserve verify --url http://203.0.113.7 --namespace llm-d-multimodal-serving --selector llm-d.ai/guide=aggregation
    """
    pods = dict(_named(entry) for entry in pod or [])
    if pods and (namespace or selector):
        raise UsageError("--pod and --namespace/--selector exclude each other: counters are read in one way")
    if (namespace is None) != (selector is None):
        raise UsageError("--namespace and --selector belong together")
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise UsageError(f"--url {url}: expected http://HOST[:PORT] or https://HOST[:PORT]")
    console = open_console(as_json=as_json)
    kubectl = KubectlCounters(namespace, selector) if namespace is not None and selector is not None else None
    report = asyncio.run(_verify(url, model, pods, kubectl, console))
    show_report(report, console, as_json=as_json)
    return 0 if report.ok else 1


async def _verify(url: str, model: str | None, pods: dict[str, str], kubectl: CounterSource | None, console: Console) -> Report:
    async with aiohttp.ClientSession() as session:
        client = Client(session, url)
        asked = model if model is not None else await _first_model(client)
        counters = kubectl or (DirectCounters(session, pods) if pods else None)
        target = Target(url=url, model=asked, client=client, counters=counters, local=is_loopback(url))
        return await Verification(target, lambda text: console.print(f"checking: {text}")).run()


async def _first_model(client: Client) -> str:
    try:
        return (await client.models())[0]
    except LocalError as error:
        raise LocalError(f"{error}; is the stack running there? --model NAME skips the question") from None


def is_loopback(url: str) -> bool:
    """Whether the URL's host is this machine, so that its pods can fetch from here."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _named(entry: str) -> tuple[str, str]:
    name, separator, url = entry.partition("=")
    if not separator or not name or not url.startswith(("http://", "https://")):
        raise UsageError(f"--pod {entry}: expected NAME=URL, for example --pod decode-1=http://127.0.0.1:8000")
    return name, url
