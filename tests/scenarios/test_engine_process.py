"""The engine as operators meet it: started, asked, stopped, and started wrongly."""

import asyncio
import json
import queue
import re
import signal
import socket
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from router.wire import EXT_PROC_SERVICE
from tests.support.api_server import PODS, POOLS, ApiServer, pod, pool
from tests.support.certificates import write_certificate
from tests.support.engine_process import engine, start, write_configuration, write_endpoints

SERVING, NOT_SERVING = 1, 2


def health(channel: grpc.Channel, service: str = "") -> int:
    stub: Any = health_pb2_grpc.HealthStub(channel)
    return stub.Check(health_pb2.HealthCheckRequest(service=service)).status


def plaintext(port: int) -> grpc.Channel:
    return grpc.insecure_channel(f"127.0.0.1:{port}")


def page(port: int, path: str = "/metrics") -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
        return answer.read().decode()


def test_health_is_served_on_both_ports_and_metrics_on_the_third(tmp_path: Path) -> None:
    write_certificate(tmp_path)
    configuration = write_configuration(tmp_path, {"a": 1})
    with engine("--pool-name=p", f"--config-file={configuration}", f"--cert-path={tmp_path}", "--drain-timeout=0s") as running:
        trust = grpc.ssl_channel_credentials((tmp_path / "tls.crt").read_bytes())
        with plaintext(running.ports["health"]) as channel:
            assert [health(channel, name) for name in ("", "inference-extension", EXT_PROC_SERVICE)] == [SERVING] * 3
        with grpc.secure_channel(f"127.0.0.1:{running.ports['ext_proc']}", trust) as channel:
            assert health(channel, EXT_PROC_SERVICE) == SERVING
        assert "llm_d_epp_info{build_ref=" in page(running.ports["metrics"])
        assert 'llm_d_epp_ready_endpoints{name="p"} 0.0' in page(running.ports["metrics"])
        assert json.loads(page(running.ports["metrics"], "/debug/plugins/state")) == {}


def test_without_a_certificate_the_engine_makes_its_own_and_speaks_http2(tmp_path: Path) -> None:
    configuration = write_configuration(tmp_path, {})
    with engine(f"--config-file={configuration}", "--drain-timeout=0s") as running:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        with socket.create_connection(("127.0.0.1", running.ports["ext_proc"])) as raw, context.wrap_socket(raw) as secured:
            assert secured.selected_alpn_protocol() == "h2"


def test_a_renewed_certificate_is_served_without_a_restart(tmp_path: Path) -> None:
    configuration = write_configuration(tmp_path, {})
    write_certificate(tmp_path, "old")
    arguments = (f"--config-file={configuration}", f"--cert-path={tmp_path}", "--enable-cert-reload", "--drain-timeout=0s")
    with engine(*arguments) as running:
        address = ("127.0.0.1", running.ports["ext_proc"])
        assert ssl.get_server_certificate(address) == (tmp_path / "tls.crt").read_text(encoding="utf-8")
        write_certificate(tmp_path, "new")

        while ssl.get_server_certificate(address) != (tmp_path / "tls.crt").read_text(encoding="utf-8"):
            pass


def test_a_changed_endpoints_file_is_followed(tmp_path: Path) -> None:
    configuration = write_configuration(tmp_path, {"a": 1})
    with engine(f"--config-file={configuration}", "--secure-serving=false", "--drain-timeout=0s") as running:
        assert "a" in page(running.ports["metrics"])
        write_endpoints(tmp_path, {"b": 1, "c": 1})
        running.wait_for("endpoints file was read")

        names = set(re.findall(r'per_endpoint_queue_size\{model_server_endpoint="(\w+)"', page(running.ports["metrics"])))
        assert names == {"b", "c"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["sigterm", "sigint"])
def test_a_signal_ends_the_engine_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    configuration = write_configuration(tmp_path, {})
    with engine(f"--config-file={configuration}", "--drain-timeout=0s") as running:
        assert running.stop(number) == 0


def test_while_it_drains_the_engine_serves_on_but_says_that_it_leaves(tmp_path: Path) -> None:
    configuration = write_configuration(tmp_path, {})
    with engine(f"--config-file={configuration}", "--secure-serving=false", "--drain-timeout=1h") as running:
        running.process.send_signal(signal.SIGTERM)
        running.wait_for("draining")

        for port in ("health", "ext_proc"):
            with plaintext(running.ports[port]) as channel:
                assert health(channel, EXT_PROC_SERVICE) == NOT_SERVING
        assert running.process.poll() is None
        assert running.stop() == 1  # the second signal ends it at once


def test_streams_that_are_open_after_the_drain_are_awaited(tmp_path: Path) -> None:
    configuration = write_configuration(tmp_path, {})
    arguments = (f"--config-file={configuration}", "--secure-serving=false", "--drain-timeout=1ms", "--enable-grpc-stream-metrics")
    ends: queue.Queue[bytes] = queue.Queue()
    with engine(*arguments) as running, plaintext(running.ports["ext_proc"]) as channel:
        stream = channel.stream_stream(f"/{EXT_PROC_SERVICE}/Process")(iter(ends.get, b""))
        while "llm_d_epp_extproc_streams_inflight 1.0" not in page(running.ports["metrics"]):
            pass
        running.process.send_signal(signal.SIGTERM)
        running.wait_for("waiting for open streams")
        assert running.process.poll() is None

        ends.put(b"")

        assert list(stream) == []
        assert running.process.wait() == 0


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        pytest.param(["--grpc-prot=1"], 2, '--grpc-prot: unknown flag; did you mean "grpc-port"?', id="unknown-flag"),
        pytest.param(["--grpc-port=x"], 2, "--grpc-port: 'x' is not allowed: allowed is a whole number", id="bad-value"),
        pytest.param([], 2, "exactly one of --pool-name and --endpoint-selector must be set", id="no-pool"),
        pytest.param(["--pool-name=p", "--endpoint-selector=a=b", "--endpoint-target-ports=1"], 2, "not both", id="pool-and-selector"),
        pytest.param(["--lora-info-metric=x"], 2, "engineConfigs", id="removed-flag"),
        pytest.param(["--ha-enable-leader-election", "--pool-name=p"], 2, "not built yet", id="leader-election"),
        pytest.param(["--config-file=/nowhere/x.yaml"], 1, "/nowhere/x.yaml: cannot be read", id="no-such-file"),
        pytest.param(["--config-text=kind: Pod"], 1, "--config-text", id="other-document"),
        pytest.param(["--config-text=[", "--pool-name=p"], 1, "--config-text", id="broken-yaml"),
        pytest.param(["--pool-name=p"], 1, "no Kubernetes API server is known", id="no-cluster"),
    ],
)
def test_a_start_that_cannot_work_is_one_line_and_an_exit_code(tmp_path: Path, arguments: list[str], code: int, text: str) -> None:
    outside = {"HOME": str(tmp_path), "KUBECONFIG": "", "KUBERNETES_SERVICE_HOST": ""}
    process = start("-v=0", *arguments, environ=outside)

    _, errors = process.communicate()

    assert process.returncode == code
    assert text in errors
    assert len(errors.splitlines()) == 1


def test_broken_endpoints_stop_the_start(tmp_path: Path) -> None:
    configuration = write_configuration(tmp_path, {"a": 0})
    process = start("-v=0", f"--config-file={configuration}", "--grpc-port=0", "--grpc-health-port=0", "--metrics-port=0")

    _, errors = process.communicate()

    assert process.returncode == 1
    assert errors == f"router.engine: {tmp_path}/endpoints.json, field \"endpoints[0].port\": '0' is not a port (1 to 65535)\n"


@pytest.mark.parametrize("port", ["grpc-port", "grpc-health-port", "metrics-port"])
def test_a_taken_port_is_one_line_and_nothing_is_left_running(tmp_path: Path, port: str) -> None:
    configuration = write_configuration(tmp_path, {})
    ports = dict.fromkeys(("grpc-port", "grpc-health-port", "metrics-port"), "0")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        flags = [f"--{name}={value}" for name, value in {**ports, port: str(number)}.items()]
        process = start("-v=0", "--bind-address=127.0.0.1", f"--config-file={configuration}", *flags)

        _, errors = process.communicate()

    assert process.returncode == 1
    assert f"cannot listen on 127.0.0.1:{number}: Address already in use" in errors
    assert len(errors.splitlines()) == 1


def test_help_and_usage_go_to_standard_output() -> None:
    process = start("--help")

    output, errors = process.communicate()

    assert (process.returncode, errors) == (0, "")
    assert "example:" in output


async def test_with_kubernetes_the_engine_is_healthy_once_it_knows_pool_and_pods(tmp_path: Path) -> None:
    async with ApiServer().run() as server:
        server.reviews = {"tokenreviews": {"authenticated": True, "user": {"username": "u"}}, "subjectaccessreviews": {"allowed": True}}
        server.put(PODS, pod("a", ip="127.0.0.1"))
        kubeconfig = tmp_path / "config"
        cluster = {"clusters": [{"name": "c", "cluster": {"server": server.url}}], "users": [{"name": "u", "user": {"token": "t"}}]}
        context = {"current-context": "x", "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}]}
        kubeconfig.write_text(json.dumps({**cluster, **context}), encoding="utf-8")
        await asyncio.to_thread(follow_pool, server, kubeconfig, asyncio.get_running_loop())


def follow_pool(server: ApiServer, kubeconfig: Path, loop: asyncio.AbstractEventLoop) -> None:
    with engine("--pool-name=p", "--drain-timeout=0s", environ={"KUBECONFIG": str(kubeconfig)}) as running:
        with plaintext(running.ports["health"]) as channel:
            asyncio.run_coroutine_threadsafe(server.watched(POOLS), loop).result()
            assert health(channel, "inference-extension") == NOT_SERVING
            loop.call_soon_threadsafe(server.put, POOLS, pool(1))
            while health(channel, "inference-extension") != SERVING:
                pass
        metrics = f"http://127.0.0.1:{running.ports['metrics']}/metrics"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(metrics)
        allowed = urllib.request.Request(metrics, headers={"Authorization": "Bearer t"})
        with urllib.request.urlopen(allowed) as answer:
            assert 'per_endpoint_queue_size{model_server_endpoint="a-rank-0",name="p"}' in answer.read().decode()
        assert running.stop() == 0
