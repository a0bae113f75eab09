"""Model server pods and the Deployment that keeps them."""

from typing import TYPE_CHECKING, Final

from components.plan import vllm
from components.plan.names import MODEL_SERVER_PORT, MODEL_SERVER_PORT_NAME
from components.plan.topologies import STARTUP_INITIAL_DELAY_SECONDS, STARTUP_PERIOD_SECONDS, Tier
from components.settings.images import pull_policy
from components.settings.model_servers import TolerationSettings, VolumeSettings
from components.settings.stack import StackSettings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pulumi_kubernetes.apps.v1 import DeploymentSpecArgsDict
    from pulumi_kubernetes.core.v1 import (
        ContainerArgsDict,
        HTTPGetActionArgsDict,
        PodSpecArgsDict,
        ProbeArgsDict,
        ResourceRequirementsArgsDict,
        TolerationArgsDict,
        VolumeArgsDict,
        VolumeMountArgsDict,
    )

PRE_STOP_SECONDS: Final = 15  # the router needs a moment to see that the pod is going
GRACE_SECONDS: Final = PRE_STOP_SECONDS + vllm.DRAIN_SECONDS + 15  # and the process some to leave
CACHES: Final = (("torch-compile-cache", "/.cache"), ("triton-cache", "/.triton"), ("vllm-config", "/.config"))


def deployment(settings: StackSettings, tier: Tier) -> "DeploymentSpecArgsDict":
    """The workload of one tier."""
    return {
        "replicas": tier.replicas,
        "progress_deadline_seconds": tier.progress_deadline_seconds,
        "selector": {"match_labels": tier.role_labels},
        "template": {"metadata": {"labels": tier.role_labels}, "spec": pod(settings, tier)},
    }


def pod(settings: StackSettings, tier: Tier) -> "PodSpecArgsDict":
    """One model server with its volumes."""
    own = tier.settings
    spec: PodSpecArgsDict = {
        "service_account_name": tier.service_account,
        "termination_grace_period_seconds": GRACE_SECONDS,
        "tolerations": [tier.accelerator.toleration, *tolerations(own.tolerations)],
        "containers": [container(settings, tier)],
        "volumes": _volumes(tier),
    }
    if own.node_selector:
        spec["node_selector"] = own.node_selector
    if own.image_pull_secrets:
        spec["image_pull_secrets"] = [{"name": name} for name in own.image_pull_secrets]
    return spec


def container(settings: StackSettings, tier: Tier) -> "ContainerArgsDict":
    """The container `modelserver`; its name and its port's name are what verification looks for."""
    own = tier.settings
    image = own.image or tier.accelerator.image
    result: ContainerArgsDict = {
        "name": MODEL_SERVER_PORT_NAME,
        "image": image,
        "command": list(vllm.COMMAND),
        "args": vllm.args(settings, tier),
        "env": vllm.env(settings, tier),
        "ports": [{"name": MODEL_SERVER_PORT_NAME, "container_port": MODEL_SERVER_PORT, "protocol": "TCP"}],
        "resources": _resources(tier),
        "startup_probe": _startup_probe(tier),
        "liveness_probe": {"http_get": _path("/health"), "period_seconds": 10, "timeout_seconds": 5, "failure_threshold": 3},
        "readiness_probe": {"http_get": _path("/v1/models"), "period_seconds": 5, "timeout_seconds": 2, "failure_threshold": 3},
        "lifecycle": {"pre_stop": {"exec_": {"command": ["sleep", str(PRE_STOP_SECONDS)]}}},
        "security_context": {"allow_privilege_escalation": False, "seccomp_profile": {"type": "RuntimeDefault"}},
        "volume_mounts": _mounts(tier),
    }
    policy = own.image_pull_policy or (pull_policy(image) if own.image else None)
    if policy is not None:
        result["image_pull_policy"] = policy
    return result


def tolerations(chosen: "Iterable[TolerationSettings]") -> "list[TolerationArgsDict]":
    """Tolerations as Kubernetes takes them, without empty fields."""
    return [_toleration(item) for item in chosen]


def _toleration(item: TolerationSettings) -> "TolerationArgsDict":
    result: TolerationArgsDict = {"operator": item.operator}
    if item.key is not None:
        result["key"] = item.key
    if item.value is not None:
        result["value"] = item.value
    if item.effect is not None:
        result["effect"] = item.effect
    if item.toleration_seconds is not None:
        result["toleration_seconds"] = item.toleration_seconds
    return result


def _resources(tier: Tier) -> "ResourceRequirementsArgsDict":
    """One number, the tensor parallel size, is what the pod asks for in accelerators."""
    count = {tier.accelerator.resource: str(tier.tensor_parallel_size)}
    return {"requests": {**tier.requests, **count}, "limits": {**tier.limits, **count}}


def _path(path: str) -> "HTTPGetActionArgsDict":
    return {"path": path, "port": MODEL_SERVER_PORT_NAME}


def _startup_probe(tier: Tier) -> "ProbeArgsDict":
    return {
        "http_get": _path("/v1/models"),
        "initial_delay_seconds": STARTUP_INITIAL_DELAY_SECONDS,
        "period_seconds": STARTUP_PERIOD_SECONDS,
        "timeout_seconds": 5,
        "failure_threshold": tier.startup_failures,
    }


def _volumes(tier: Tier) -> "list[VolumeArgsDict]":
    memory: VolumeArgsDict = {"name": "shm", "empty_dir": {"medium": "Memory", "size_limit": tier.shared_memory}}
    return [memory, *({"name": name, "empty_dir": {}} for name, _ in CACHES), *(_volume(item) for item in tier.settings.volumes)]


def _volume(item: VolumeSettings) -> "VolumeArgsDict":
    if item.claim is not None:
        return {"name": item.name, "persistent_volume_claim": {"claim_name": item.claim, "read_only": item.read_only}}
    return {"name": item.name, "empty_dir": {} if item.size_limit is None else {"size_limit": item.size_limit}}


def _mounts(tier: Tier) -> "list[VolumeMountArgsDict]":
    memory: VolumeMountArgsDict = {"name": "shm", "mount_path": "/dev/shm"}  # noqa: S108 - where NCCL shares memory
    return [memory, *({"name": name, "mount_path": path} for name, path in CACHES), *(_mount(item) for item in tier.settings.volumes)]


def _mount(item: VolumeSettings) -> "VolumeMountArgsDict":
    mount: VolumeMountArgsDict = {"name": item.name, "mount_path": item.mount_path}
    if item.read_only:
        mount["read_only"] = True
    return mount
