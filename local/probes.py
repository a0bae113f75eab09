"""Probes as a kubelet makes them: httpGet, grpc, tcpSocket and exec, one attempt each.

When they are made and what their results do is in `local.containers`.
"""

import asyncio
import contextlib
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from local.addresses import container_port
from local.errors import LocalError
from local.grpc_health import serving
from local.processes import Launch, run_command

Kind = Literal["httpGet", "grpc", "tcpSocket", "exec"]
KINDS: tuple[Kind, ...] = ("httpGet", "grpc", "tcpSocket", "exec")
DEFAULT_PERIOD_SECONDS = 10
DEFAULT_FAILURES = 3
STEADY_SECONDS = 1.0
MOST_PATIENCE_SECONDS = 20  # a busy laptop starts everything within this time


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One probe. Delay and period are scaled for this machine, the timeout of an attempt is not.

    A program does not start faster because its probes come more often, so failures end a container only after
    `patience_seconds` without a success as well. After a success the next probe comes `steady_seconds` later at the
    earliest: haste is for the start, and an idle stack should idle.
    """

    kind: Kind
    host: str
    port: int = 0
    path: str = "/"
    tls: bool = False
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    service: str = ""
    launch: Launch | None = None
    initial_delay_seconds: float = 0
    period_seconds: float = DEFAULT_PERIOD_SECONDS
    timeout_seconds: float = 1
    failure_threshold: int = DEFAULT_FAILURES
    success_threshold: int = 1
    patience_seconds: float = 0
    steady_seconds: float = 0

    @property
    def pause_seconds(self) -> float:
        """The wait after a success; after a failure it is the period."""
        return max(self.period_seconds, self.steady_seconds)


def read_probe(
    given: Mapping[str, Any] | None,
    containers: Sequence[Mapping[str, Any]],
    host: str,
    scale: float,
    execute: Callable[[Sequence[str]], Launch],
) -> Probe | None:
    """A probe of a container's spec; `execute` makes a command of the container ready to run. None stays None."""
    if given is None:
        return None
    kind: Kind | None = next((known for known in KINDS if known in given), None)
    if kind is None:
        raise LocalError(f"a probe is of none of the kinds {', '.join(KINDS)}: {dict(given)}")
    action = given[kind] or {}
    delay, period = given.get("initialDelaySeconds", 0), given.get("periodSeconds", DEFAULT_PERIOD_SECONDS)
    failures = given.get("failureThreshold", DEFAULT_FAILURES)
    return Probe(
        kind=kind,
        host=action.get("host") or host,
        port=container_port(containers, action["port"]) if "port" in action else 0,
        path=action.get("path") or "/",
        tls=action.get("scheme", "HTTP").upper() == "HTTPS",
        headers={header["name"]: header["value"] for header in action.get("httpHeaders") or []},
        service=action.get("service") or "",
        launch=execute(action["command"]) if kind == "exec" else None,
        initial_delay_seconds=delay * scale,
        period_seconds=period * scale,
        timeout_seconds=given.get("timeoutSeconds", 1),
        failure_threshold=failures,
        success_threshold=given.get("successThreshold", 1),
        patience_seconds=min(delay + failures * period, MOST_PATIENCE_SECONDS),
        steady_seconds=min(period, STEADY_SECONDS),
    )


async def attempt(probe: Probe) -> tuple[bool, str]:
    """Probe once: whether it succeeded, and what was seen. Never raises for what the probed process does."""
    if probe.kind == "exec":
        assert probe.launch is not None
        return await run_command(probe.launch, probe.timeout_seconds)
    where = f"{probe.host}:{probe.port}"
    try:
        async with asyncio.timeout(probe.timeout_seconds):
            if probe.kind == "httpGet":
                return await _http_get(probe)
            if probe.kind == "grpc":
                return await _grpc_check(probe)
            return await _connect(probe)
    except TimeoutError:
        return False, f"{where}: no answer within {probe.timeout_seconds:g} s"
    except OSError as error:
        return False, f"{where}: {error.strerror or error}"


async def _connect(probe: Probe) -> tuple[bool, str]:
    _, writer = await asyncio.open_connection(probe.host, probe.port)
    writer.close()
    return True, "connected"


async def _http_get(probe: Probe) -> tuple[bool, str]:
    context = _unverified() if probe.tls else None
    reader, writer = await asyncio.open_connection(probe.host, probe.port, ssl=context)
    try:
        headers = {"Host": f"{probe.host}:{probe.port}", "User-Agent": "kube-probe/mmserve", "Connection": "close", **probe.headers}
        lines = [f"GET {probe.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        writer.write("\r\n".join(lines).encode())
        await writer.drain()
        words = (await reader.readline()).split()
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
    if len(words) < 2 or not words[1].isdigit():
        return False, f"{probe.host}:{probe.port}: not an HTTP answer"
    status = int(words[1])
    return 200 <= status < 400, f"GET {probe.path}: HTTP {status}"


async def _grpc_check(probe: Probe) -> tuple[bool, str]:
    fine = await serving(probe.host, probe.port, probe.service)
    return fine, "serving" if fine else f"{probe.host}:{probe.port}: not serving"


def _unverified() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False  # a kubelet does not verify either
    context.verify_mode = ssl.CERT_NONE
    return context
