from pathlib import Path
from typing import Any

import pytest
import yaml

from local.guard import MARK
from local.kubelet import PodPlan
from local.layout import Layout
from local.plan import StackPlan, plan_stack
from tests.support.local_stack import settings
from tests.support.manifests import (
    CONFIG_VOLUME,
    config_map,
    container,
    deployment,
    engine_container,
    model_container,
    pool,
    service,
    small_stack,
)


def planned(**fields: Any) -> StackPlan:
    return plan_stack("layout", small_stack(1, model_container(**fields)))


def prepared(plan: StackPlan, folder: Path, number: int = 1, scale: float = 0.1) -> PodPlan:
    return Layout(plan, folder, settings(folder, scale)).prepare(plan.pods[number])


def test_a_model_server_gets_its_arguments_with_local_addresses(tmp_path: Path) -> None:
    pod = prepared(planned(args=["tiny/model", "--host=0.0.0.0"]), tmp_path)

    assert pod.containers[0].launch.argv[1:] == [
        *("-m", "simulator", "serve", "tiny/model"),
        *(f"--host={pod.address}", "--sim-profile=fast", "--sim-media=fetch"),
    ]


def test_the_environment_is_the_containers_and_little_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/lib")
    pod = prepared(planned(env=[{"name": "A", "value": "tcp://*:1"}]), tmp_path)
    env = pod.containers[0].launch.env

    assert env["A"] == f"tcp://{pod.address}:1"
    assert env[MARK] == str(tmp_path)
    assert set(env) == {"A", "PATH", "LD_LIBRARY_PATH", "LANG", "HOME", "TMPDIR", "PYTHONPATH", "PYTHONUNBUFFERED", MARK}


def test_arguments_may_refer_to_variables(tmp_path: Path) -> None:
    env = [{"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]
    pod = prepared(planned(args=["tiny/model", "--peer=$(IP):1"], env=env), tmp_path)

    assert f"--peer={pod.address}:1" in pod.containers[0].launch.argv


def test_the_engine_reads_its_document_from_the_run_and_its_endpoints_from_a_file(tmp_path: Path) -> None:
    plan = planned()
    pod = prepared(plan, tmp_path, number=0)
    argv = pod.containers[0].launch.argv
    document = yaml.safe_load(Path(argv[argv.index("--config-file") + 1]).read_text())

    assert document["dataLayer"]["discovery"] == {"pluginRef": "file-discovery"}
    path = Layout(plan, tmp_path, settings(tmp_path)).endpoint_file(plan.pods[0])
    assert document["plugins"][-1]["parameters"] == {"path": str(path), "watchFile": True}
    assert argv[-2:] == [f"--bind-address={pod.address}", "--drain-timeout=1s"]


def test_an_engine_started_by_a_command_keeps_its_arguments(tmp_path: Path) -> None:
    engine = engine_container(command=["python", "-m", "router.engine", "--v=3"])
    objects = [
        config_map(),
        deployment("router", [engine], labels={"app": "router"}, volumes=[CONFIG_VOLUME]),
        deployment(),
        service(),
        pool(),
    ]
    argv = prepared(plan_stack("layout", objects), tmp_path, number=0).containers[0].launch.argv

    assert argv[1:6] == ["-m", "router.engine", "--v=3", "--pool-name", "pool"]


def test_probes_and_grace_are_scaled(tmp_path: Path) -> None:
    probe = {"httpGet": {"port": "modelserver"}, "initialDelaySeconds": 15, "periodSeconds": 30}
    [plan] = prepared(planned(startupProbe=probe, livenessProbe=probe, readinessProbe=probe), tmp_path).containers

    assert plan.startup is not None
    assert (plan.startup.initial_delay_seconds, plan.startup.period_seconds) == (1.5, 3)
    assert plan.startup == plan.liveness == plan.readiness
    assert plan.grace_seconds == 3


HOOKS = {
    "sleep": ({"sleep": {"seconds": 30}}, 3),
    "exec-sleep": ({"exec": {"command": ["sleep", "15"]}}, 1.5),
}


@pytest.mark.parametrize(("hook", "seconds"), HOOKS.values(), ids=HOOKS)
def test_hooks_that_wait_are_scaled(tmp_path: Path, hook: dict[str, Any], seconds: float) -> None:
    [plan] = prepared(planned(lifecycle={"preStop": hook}), tmp_path).containers

    assert plan.pre_stop is not None
    assert plan.pre_stop.sleep_seconds == pytest.approx(seconds)


def test_other_hooks_are_commands_or_requests(tmp_path: Path) -> None:
    [command] = prepared(planned(lifecycle={"preStop": {"exec": {"command": ["stop", "localhost"]}}}), tmp_path).containers
    [request] = prepared(planned(lifecycle={"preStop": {"httpGet": {"port": 8000, "path": "/stop"}}}), tmp_path).containers

    assert command.pre_stop is not None
    assert command.pre_stop.launch is not None
    assert command.pre_stop.launch.argv[0] == "stop"
    assert command.pre_stop.launch.argv[1].startswith("127.")
    assert request.pre_stop is not None
    assert request.pre_stop.request is not None
    assert request.pre_stop.request.path == "/stop"


def test_each_container_has_its_log(tmp_path: Path) -> None:
    plan = planned()
    pod = prepared(plan, tmp_path)

    assert pod.containers[0].launch.log == tmp_path / "logs" / plan.pods[1].name / "modelserver.log"


def test_init_containers_end_and_sidecars_stay(tmp_path: Path) -> None:
    init = [model_container(name="prepare", ports=[]), model_container(name="side", ports=[], restartPolicy="Always")]
    objects = small_stack(1)
    objects[2] = deployment(containers=[model_container()], initContainers=init)

    pod = prepared(plan_stack("layout", objects), tmp_path)

    assert [(plan.name, plan.restart_policy) for plan in pod.init_containers] == [("prepare", "OnFailure"), ("side", "Always")]


def test_volumes_are_shared_by_the_containers_of_a_pod(tmp_path: Path) -> None:
    mount = {"volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}]}
    objects = small_stack(1)
    servers = [
        model_container(args=["m", "--a=/scratch/x"], **mount),
        container("envoy", command=["vllm", "serve"], args=["/scratch/y"], **mount),
    ]
    objects[2] = deployment(containers=servers, volumes=[{"name": "scratch", "emptyDir": {}}])

    pod = prepared(plan_stack("layout", objects), tmp_path)

    folder = tmp_path / "pods" / pod.pod.name / "volumes" / "scratch"
    assert folder.is_dir()
    assert f"--a={folder}/x" in pod.containers[0].launch.argv
    assert f"{folder}/y" in pod.containers[1].launch.argv
