import json
import re
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from cli.verification.counters import CounterError, DirectCounters, KubectlCounters
from local.counters import Counters
from tests.support.loopback import serving, text

PAGE = 'vllm:request_success_total{finished_reason="stop"} 3\n'


def pod(name: str, port: int = 8000, container: str = "modelserver") -> dict[str, Any]:
    ports = [{"name": "other", "containerPort": 1}, {"name": "modelserver", "containerPort": port}]
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "side"}, {"name": container, "ports": ports}]}}


def kubectl(folder: Path, *pods: dict[str, Any], broken: str = "") -> KubectlCounters:
    """A program that answers as kubectl does and writes down what it was asked."""
    (folder / "pods.json").write_text(json.dumps({"items": pods}))
    (folder / "page").write_text(PAGE)
    script = f"""#!/bin/sh
echo "$@" >> {folder}/asked
case "$*" in
  *"{broken or "nothing is broken"}"*) echo "Error from server (NotFound): no such pod" >&2; exit 1 ;;
  "get pods"*) cat {folder}/pods.json ;;
  *) cat {folder}/page ;;
esac
"""
    program = folder / "kubectl"
    program.write_text(script)
    program.chmod(0o755)
    return KubectlCounters("serving", "app=model", str(program))


async def test_pods_are_read_where_they_are() -> None:
    async with serving({"/a/metrics": text(PAGE)}) as url, aiohttp.ClientSession() as session:
        source = DirectCounters(session, {"one": f"{url}/a", "two": f"{url}/a/", "three": f"{url}/a/metrics"})
        found = await source.read()

    assert found == dict.fromkeys(("one", "two", "three"), Counters(requests=3))


async def test_a_silent_pod_is_named() -> None:
    async with serving({"/a/metrics": text(PAGE)}) as url, aiohttp.ClientSession() as session:
        with pytest.raises(CounterError, match=re.escape(f"no counters from two ({url}/b/metrics)")):
            await DirectCounters(session, {"one": f"{url}/a", "two": f"{url}/b"}).read()


async def test_pods_are_read_through_the_api_server_on_their_model_servers_port(tmp_path: Path) -> None:
    found = await kubectl(tmp_path, pod("one"), pod("two", 8200)).read()

    assert found == {"one": Counters(requests=3), "two": Counters(requests=3)}
    listing, *reads = (tmp_path / "asked").read_text().splitlines()
    assert listing == "get pods -n serving -l app=model -o json"
    assert sorted(reads) == [
        "get --raw /api/v1/namespaces/serving/pods/one:8000/proxy/metrics",
        "get --raw /api/v1/namespaces/serving/pods/two:8200/proxy/metrics",
    ]


async def test_labels_that_nobody_carries_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(CounterError, match="no pod in namespace serving has labels app=model"):
        await kubectl(tmp_path).read()


async def test_a_pod_without_a_model_server_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CounterError, match="pod one has no container modelserver"):
        await kubectl(tmp_path, pod("one", container="web")).read()


@pytest.mark.parametrize("broken", ["get pods", "two:8000"])
async def test_what_kubectl_complains_about_is_passed_on(tmp_path: Path, broken: str) -> None:
    with pytest.raises(CounterError, match=r"Error from server \(NotFound\)"):
        await kubectl(tmp_path, pod("one"), pod("two"), broken=broken).read()


async def test_a_missing_kubectl_says_what_else_there_is(tmp_path: Path) -> None:
    with pytest.raises(CounterError, match="--pod NAME=URL"):
        await KubectlCounters("serving", "app=model", str(tmp_path / "none")).read()
