"""The engine's arguments, container and pod."""

from typing import Any

import pytest

from components.plan import endpoint_picker
from components.plan.names import names
from components.settings.stack import load


def args(**values: Any) -> list[str]:
    settings = load(values)
    return endpoint_picker.args(settings, names(settings, "1"))


def pod(**router: Any) -> Any:
    settings = load({"router": router})
    return endpoint_picker.pod(settings, names(settings, "9.9"))


def test_args_of_the_default_stack_in_the_reference_s_order() -> None:
    assert args() == [
        "--pool-name", "multimodal-serving", "--pool-namespace", "llm-d-multimodal-serving",
        "--pool-group", "inference.networking.k8s.io", "--zap-encoder", "json",
        "--config-file", "/config/aggregation-plugins.yaml", "--grpc-health-port", "9003", "--v=2", "--tracing=false",
    ]  # fmt: skip


def test_without_a_pool_endpoints_are_selected_by_label() -> None:
    found = args(router={"pool": {"create": False}})

    assert found[:4] == ["--endpoint-selector", "llm-d.ai/guide=aggregation", "--endpoint-target-ports", "8000"]
    assert "--pool-name" not in found


def test_extra_flags_are_sorted_among_the_own_ones() -> None:
    found = args(router={"flags": {"drain-timeout": "20s", "zap-devel": "true"}, "secureServing": False, "verbosity": 4})

    assert [flag for flag in found if "=" in flag] == [
        "--drain-timeout=20s",
        "--secure-serving=false",
        "--v=4",
        "--zap-devel=true",
        "--tracing=false",
    ]


def test_monitoring_opens_the_metrics() -> None:
    assert args(monitoring=True)[-1] == "--metrics-endpoint-auth=false"


@pytest.mark.parametrize(
    ("router", "image", "policy"),
    [
        ({}, "ghcr.io/mmserve/mmserve-router:9.9", "IfNotPresent"),
        ({"image": {"ref": "a/b:main"}}, "a/b:main", "Always"),
        ({"image": {"ref": "a/b:v1", "pullPolicy": "Never"}}, "a/b:v1", "Never"),
    ],
)
def test_image(router: dict[str, Any], image: str, policy: str) -> None:
    engine = pod(**router)["containers"][-1]

    assert (engine["image"], engine["image_pull_policy"]) == (image, policy)


def test_the_proxy_stands_beside_the_engine_or_apart() -> None:
    assert [c["name"] for c in pod()["containers"]] == ["envoy-proxy", "epp"]
    apart = pod(proxy={"mode": "service"})
    assert [c["name"] for c in apart["containers"]] == ["epp"]
    assert [v["name"] for v in apart["volumes"]] == ["plugins-config-volume"]


def test_probes_ask_the_health_port() -> None:
    engine = pod()["containers"][-1]

    grpc = {"port": 9003, "service": "inference-extension"}
    assert engine["liveness_probe"] == {"grpc": grpc, "period_seconds": 10, "initial_delay_seconds": 5}
    assert engine["readiness_probe"] == {"grpc": grpc, "period_seconds": 2}


def test_the_stack_s_environment_comes_last() -> None:
    engine = pod(env={"TZ": "UTC"})["containers"][-1]

    assert [entry["name"] for entry in engine["env"]] == ["NAMESPACE", "POD_NAME", "TZ"]


def test_placement_is_absent_unless_given() -> None:
    assert not {"node_selector", "tolerations", "image_pull_secrets"} & set(pod())
    placed = pod(nodeSelector={"a": "b"}, tolerations=[{"key": "k", "operator": "Exists"}], imagePullSecrets=["s"])
    assert placed["node_selector"] == {"a": "b"}
    assert placed["tolerations"] == [{"key": "k", "operator": "Exists"}]
    assert placed["image_pull_secrets"] == [{"name": "s"}]


def test_the_hash_follows_names_and_content_but_not_order() -> None:
    one = endpoint_picker.config_hash({"a": "1", "b": "2"})

    assert one == endpoint_picker.config_hash({"b": "2", "a": "1"})
    assert one != endpoint_picker.config_hash({"a": "1", "b": "3"})
    assert one != endpoint_picker.config_hash({"a": "12", "b": ""})
    assert one != endpoint_picker.config_hash({"a": "1", "c": "2"})


def test_a_roll_out_never_has_fewer_routers() -> None:
    settings = load({})
    found: Any = endpoint_picker.deployment(settings, names(settings, "1"), {})

    assert found["strategy"] == {"type": "RollingUpdate", "rolling_update": {"max_surge": 1, "max_unavailable": 0}}
