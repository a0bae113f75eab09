import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from router.engine.app import Engine
from router.engine.options import UsageError, parse
from router.framework.errors import ConfigError
from tests.support.engine_process import ANY_PORTS, write_configuration


def built(*arguments: str, **environ: str) -> Engine:
    return Engine(parse([*ANY_PORTS, *arguments], environ), environ)


def kubeconfig(folder: Path) -> str:
    text = """{current-context: x, contexts: [{name: x, context: {cluster: c}}],
    clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]}"""
    (folder / "config").write_text(text, encoding="utf-8")
    return str(folder / "config")


def test_without_file_discovery_a_pool_is_needed() -> None:
    with pytest.raises(UsageError, match="exactly one of"):
        built()


def test_without_file_discovery_a_cluster_is_needed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no Kubernetes API server"):
        built("--pool-name=p", HOME=str(tmp_path))


@pytest.mark.parametrize("name", ["", "engine", "engine-5d"])
def test_with_a_selector_the_pod_must_be_named_as_a_deployment_names_it(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="POD_NAME"):
        built("--endpoint-selector=app=x", "--endpoint-target-ports=1", KUBECONFIG=kubeconfig(tmp_path), POD_NAME=name)


def test_a_selector_or_a_pool_of_a_cluster_is_enough(tmp_path: Path) -> None:
    built("--pool-name=p", KUBECONFIG=kubeconfig(tmp_path))
    built("--endpoint-selector=app=x", "--endpoint-target-ports=1", KUBECONFIG=kubeconfig(tmp_path), POD_NAME="my-engine-5d-x7")


def test_discovery_must_be_a_plugin_that_discovers() -> None:
    plugins = "plugins: [{type: queue-scorer}], dataLayer: {discovery: {pluginRef: queue-scorer}}"
    text = f"{{apiVersion: llm-d.ai/v1, kind: EndpointPickerConfig, {plugins}}}"

    with pytest.raises(ConfigError, match="queue-scorer"):
        built(f"--config-text={text}")


@pytest.mark.parametrize("content", [None, b"\xff"], ids=["missing", "no-text"])
def test_a_configuration_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "engine.yaml"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(ConfigError, match="cannot be read") as refused:
        built(f"--config-file={path}")
    assert str(path) in str(refused.value)


def test_the_certificate_directory_must_hold_a_pair(tmp_path: Path) -> None:
    engine = built(f"--config-file={write_configuration(tmp_path, {})}", f"--cert-path={tmp_path}")

    with pytest.raises(ConfigError, match=r"matching tls.crt and tls.key"):
        asyncio.run(engine.run())


async def test_an_engine_runs_until_it_is_told_to_stop(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "router.engine.app")
    configuration = write_configuration(tmp_path, {"a": 1})
    engine = built(f"--config-file={configuration}", "--secure-serving=false", "--drain-timeout=0s", "--enable-grpc-stream-metrics")

    async with asyncio.TaskGroup() as group:
        running = group.create_task(engine.run())
        ports = await up(caplog)
        async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{ports['metrics']}/metrics") as answer:
            page = await answer.text()
        os.kill(os.getpid(), signal.SIGTERM)
        await running

    assert 'llm_d_epp_per_endpoint_queue_size{model_server_endpoint="a",name="epp"} 0.0' in page
    assert "llm_d_epp_extproc_streams_inflight 0.0" in page
    assert caplog.messages[-1] == "engine has ended"


async def up(caplog: pytest.LogCaptureFixture) -> dict[str, Any]:
    """The ports of the engine once it is up."""
    while True:
        for record in caplog.records:
            if record.message == "engine is up":
                return record.__dict__["fields"]
        await asyncio.sleep(0.005)
