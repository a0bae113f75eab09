import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from local.errors import LocalError
from local.probes import Probe, attempt, read_probe
from local.processes import Launch
from tests.support.loopback import serving, text
from tests.support.manifests import model_container
from tests.support.runners import exec_probe

HOST = "127.0.0.1"


def no_command(argv: Sequence[str]) -> Launch:
    return Launch(argv=argv, env={}, folder=Path("/"), log=Path("/dev/null"))


def read(given: dict[str, Any], scale: float = 1) -> Probe:
    probe = read_probe(given, [model_container()], HOST, scale, no_command)
    assert probe is not None
    return probe


def http_probe(url: str, path: str = "/") -> Probe:
    return Probe(kind="httpGet", host=HOST, port=int(url.rpartition(":")[2]), path=path)


def test_a_probe_has_kubernetes_defaults() -> None:
    probe = read({"tcpSocket": {"port": 80}})

    assert (probe.initial_delay_seconds, probe.period_seconds, probe.timeout_seconds) == (0, 10, 1)
    assert (probe.failure_threshold, probe.success_threshold) == (3, 1)


def test_no_probe_stays_none() -> None:
    assert read_probe(None, [], HOST, 1, no_command) is None


def test_delay_and_period_are_scaled_and_the_timeout_is_not() -> None:
    probe = read({"tcpSocket": {"port": 80}, "initialDelaySeconds": 15, "periodSeconds": 30, "timeoutSeconds": 5}, scale=0.1)

    assert (probe.initial_delay_seconds, probe.period_seconds, probe.timeout_seconds) == (1.5, 3, 5)


@pytest.mark.parametrize(("failures", "patience"), [(3, 11), (120, 20)], ids=["as-the-manifest-says", "at-most"])
def test_patience_is_not_scaled(failures: int, patience: float) -> None:
    given = {"tcpSocket": {"port": 80}, "initialDelaySeconds": 5, "periodSeconds": 2, "failureThreshold": failures}

    assert read(given, scale=0.01).patience_seconds == patience


@pytest.mark.parametrize(("scale", "pause"), [(0.1, 1), (2, 4), (0.5, 1)])
def test_once_it_succeeds_a_probe_is_made_about_once_a_second(scale: float, pause: float) -> None:
    assert read({"tcpSocket": {"port": 80}, "periodSeconds": 2}, scale).pause_seconds == pause


def test_a_probe_that_a_manifest_wants_more_often_is_made_more_often() -> None:
    assert read({"tcpSocket": {"port": 80}, "periodSeconds": 0.2}).pause_seconds == 0.2


def test_a_port_may_be_a_name() -> None:
    assert read({"httpGet": {"port": "modelserver", "path": "/health"}}).port == 8000


def test_all_fields_of_a_request_are_read() -> None:
    action = {"port": 1, "host": "127.9.9.9", "scheme": "HTTPS", "httpHeaders": [{"name": "A", "value": "b"}]}
    probe = read({"httpGet": action})

    assert (probe.host, probe.tls, probe.headers, probe.path) == ("127.9.9.9", True, {"A": "b"}, "/")


def test_a_grpc_probe_names_its_service() -> None:
    assert read({"grpc": {"port": 9003, "service": "inference-extension"}}).service == "inference-extension"


def test_a_probe_of_no_known_kind_is_refused() -> None:
    with pytest.raises(LocalError, match="none of the kinds"):
        read({"periodSeconds": 1})


@pytest.mark.parametrize(("status", "fine"), [(200, True), (204, True), (302, True), (399, True), (400, False), (404, False), (503, False)])
async def test_an_http_answer_counts_from_200_to_399(status: int, fine: bool) -> None:
    async with serving({"/": text("", status)}) as url:
        assert await attempt(http_probe(url)) == (fine, f"GET /: HTTP {status}")


async def test_the_request_carries_path_and_headers() -> None:
    seen: list[tuple[str, str | None]] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append((request.path_qs, request.headers.get("X-Probe")))
        return web.Response()

    async with serving({"/health": handler}) as url:
        await attempt(replace(http_probe(url, "/health?a=1"), headers={"X-Probe": "yes"}))

    assert seen == [("/health?a=1", "yes")]


async def test_what_is_not_http_fails() -> None:
    async def other(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello\r\n")
        writer.close()

    async with await asyncio.start_server(other, HOST, 0) as server:
        port = server.sockets[0].getsockname()[1]
        fine, message = await attempt(Probe(kind="httpGet", host=HOST, port=port))

    assert not fine
    assert "not an HTTP answer" in message


async def test_a_connection_is_enough_for_a_tcp_probe() -> None:
    async with serving({}) as url:
        probe = replace(http_probe(url), kind="tcpSocket")
        assert (await attempt(probe))[0]

    fine, message = await attempt(probe)
    assert not fine
    assert message.startswith(f"{HOST}:{probe.port}: Connect")


async def test_no_answer_in_time_fails() -> None:
    release = asyncio.Event()

    async def slow(_request: web.Request) -> web.Response:
        await release.wait()
        return web.Response()

    async with serving({"/": slow}) as url:
        fine, message = await attempt(replace(http_probe(url), timeout_seconds=0.05))
        release.set()

    assert not fine
    assert message.endswith("no answer within 0.05 s")


async def test_a_grpc_probe_of_a_closed_port_fails() -> None:
    async with serving({}) as url:
        probe = replace(http_probe(url), kind="grpc", service="x")

    fine, message = await attempt(probe)

    assert not fine
    assert str(probe.port) in message


async def test_an_exec_probe_looks_at_the_exit_code(tmp_path: Path) -> None:
    assert (await attempt(exec_probe(tmp_path, "true")))[0]
    assert await attempt(exec_probe(tmp_path, "exit 3")) == (False, "exit code 3")
