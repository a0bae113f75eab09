"""The proxy's container and Deployment."""

from typing import Any

from components.plan import proxy
from components.plan.names import names
from components.settings.stack import load


def container(**fields: Any) -> Any:
    return proxy.container(load({"router": {"proxy": fields}}))


def test_args_are_single_tokens() -> None:
    args = container(concurrency=3)["args"]

    assert args == [
        "--service-node", "envoy-sidecar", "--log-level", "warn", "--concurrency", "3",
        "--drain-strategy", "immediate", "--drain-time-s", "60", "-c", "/etc/envoy/envoy.yaml",
    ]  # fmt: skip


def test_image_and_resources_are_settings() -> None:
    found = container(image="envoy/envoy:v9", resources={"requests": {"cpu": 1}})

    assert (found["image"], found["image_pull_policy"]) == ("envoy/envoy:v9", "IfNotPresent")
    assert found["resources"] == {"requests": {"cpu": "1"}, "limits": {}}


def test_the_document_is_mounted_where_the_args_look() -> None:
    settings = load({"router": {"proxy": {"configMap": "mine"}}})
    found: Any = proxy.volume(settings)

    assert found["config_map"]["name"] == "mine"
    assert found["config_map"]["items"] == [{"key": "envoy.yaml", "path": "envoy.yaml"}]
    assert container()["volume_mounts"] == [{"mount_path": "/etc/envoy", "name": found["name"], "read_only": True}]


def test_the_container_is_locked_down() -> None:
    assert container()["security_context"] == {
        "allow_privilege_escalation": False,
        "read_only_root_filesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert proxy.unprivileged().get("run_as_non_root") is True


def test_the_separate_proxy_is_selected_by_its_own_label() -> None:
    settings = load({"router": {"proxy": {"mode": "service", "replicas": 3}}})
    found: Any = proxy.deployment(settings, names(settings, "1"), {"checksum/config": "x"})

    assert found["replicas"] == 3
    assert found["selector"]["match_labels"] == {"llm-d-router-proxy": "multimodal-serving-proxy"}
    assert found["selector"]["match_labels"].items() <= found["template"]["metadata"]["labels"].items()
    assert found["template"]["metadata"]["annotations"] == {"checksum/config": "x"}
    assert found["template"]["spec"]["termination_grace_period_seconds"] == 70
