"""The proxy's container, and its Deployment where it does not share the engine's pod."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from components.plan import envoy
from components.plan.names import PROXY_PORT, PROXY_READY_PORT, Names
from components.settings.images import pull_policy
from components.settings.stack import StackSettings

if TYPE_CHECKING:
    from pulumi_kubernetes.apps.v1 import DeploymentSpecArgsDict
    from pulumi_kubernetes.core.v1 import (
        ContainerArgsDict,
        EnvVarArgsDict,
        KeyToPathArgsDict,
        PodSecurityContextArgsDict,
        ProbeArgsDict,
        SecurityContextArgsDict,
        VolumeArgsDict,
    )

DIRECTORY: Final = "/etc/envoy"
VOLUME: Final = "config"
DRAIN_SECONDS: Final = 60
PRE_STOP_SECONDS: Final = 30  # Envoy stops at once when asked to: the pod first leaves its Service, running answers go on
CONFIG_HASH: Final = "checksum/config"
UNPRIVILEGED_USER: Final = 65532  # `nonroot` of distroless images


def container(settings: StackSettings) -> "ContainerArgsDict":
    """Envoy."""
    proxy = settings.router.proxy
    return {
        "name": "envoy-proxy",
        "image": proxy.image,
        "image_pull_policy": pull_policy(proxy.image),
        "command": ["envoy"],
        "args": _args(proxy.concurrency),
        "env": [_field("NS_NAME", "metadata.namespace"), _field("POD_NAME", "metadata.name")],
        "ports": [
            {"container_port": PROXY_PORT, "name": f"http-{PROXY_PORT}"},
            {"container_port": PROXY_READY_PORT, "name": f"metrics-{PROXY_READY_PORT}"},
        ],
        "readiness_probe": _readiness(),
        "lifecycle": {"pre_stop": {"sleep": {"seconds": PRE_STOP_SECONDS}}},
        "resources": {"requests": proxy.resources.requests, "limits": proxy.resources.limits},
        "security_context": locked_down(),
        "volume_mounts": [{"mount_path": DIRECTORY, "name": VOLUME, "read_only": True}],
    }


def volume(settings: StackSettings) -> "VolumeArgsDict":
    """The bootstrap document."""
    item: KeyToPathArgsDict = {"key": envoy.FILE, "path": envoy.FILE}
    return {"name": VOLUME, "config_map": {"name": settings.router.proxy.config_map, "items": [item]}}


def deployment(settings: StackSettings, names: Names, annotations: Mapping[str, str]) -> "DeploymentSpecArgsDict":
    """The separate proxy."""
    labels = {**names.common_labels, **names.proxy_selector}
    return {
        "replicas": settings.router.proxy.replicas,
        "selector": {"match_labels": names.proxy_selector},
        "template": {
            "metadata": {"labels": labels, "annotations": annotations},
            "spec": {
                "containers": [container(settings)],
                "volumes": [volume(settings)],
                "security_context": unprivileged(),
                "termination_grace_period_seconds": DRAIN_SECONDS + 10,
            },
        },
    }


def locked_down() -> "SecurityContextArgsDict":
    """For containers that need nothing of their host and write no files."""
    return {
        "allow_privilege_escalation": False,
        "read_only_root_filesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def unprivileged() -> "PodSecurityContextArgsDict":
    """For pods whose images run as any user."""
    return {"run_as_non_root": True, "run_as_user": UNPRIVILEGED_USER, "seccomp_profile": {"type": "RuntimeDefault"}}


def _args(concurrency: int) -> list[str]:
    options = {
        "--service-node": "envoy-sidecar",
        "--log-level": "warn",
        "--concurrency": str(concurrency),
        "--drain-strategy": "immediate",
        "--drain-time-s": str(DRAIN_SECONDS),
        "-c": f"{DIRECTORY}/{envoy.FILE}",
    }
    return [token for option in options.items() for token in option]


def _field(name: str, path: str) -> "EnvVarArgsDict":
    return {"name": name, "value_from": {"field_ref": {"field_path": path}}}


def _readiness() -> "ProbeArgsDict":
    return {
        "http_get": {"path": "/ready", "port": PROXY_READY_PORT, "scheme": "HTTP"},
        "period_seconds": 5,
        "timeout_seconds": 1,
        "success_threshold": 1,
        "failure_threshold": 1,
    }
