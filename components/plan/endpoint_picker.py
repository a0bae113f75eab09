"""The engine's container, arguments and Deployment."""

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from components.plan import engine_config, proxy
from components.plan.names import EXT_PROC_PORT, HEALTH_PORT, METRICS_PORT, MODEL_SERVER_PORT, Names
from components.plan.pod import tolerations
from components.plan.topologies import pod_selector
from components.settings.images import pull_policy
from components.settings.stack import StackSettings

if TYPE_CHECKING:
    from pulumi_kubernetes.apps.v1 import DeploymentSpecArgsDict
    from pulumi_kubernetes.core.v1 import ContainerArgsDict, EnvVarArgsDict, PodSpecArgsDict, ProbeArgsDict, VolumeArgsDict

REPOSITORY: Final = "ghcr.io/mmserve/mmserve-router"
POOL_GROUP: Final = "inference.networking.k8s.io"
PROBED_SERVICE: Final = "inference-extension"
CONFIG_VOLUME: Final = "plugins-config-volume"
GRACE_SECONDS: Final = 130  # the proxy's and the engine's drain, one after the other, and some


def image(settings: StackSettings, names: Names) -> str:
    """The engine's image: the stack's, else the program's own of the same version."""
    return settings.router.image.ref or f"{REPOSITORY}:{names.version}"


def args(settings: StackSettings, names: Names) -> list[str]:
    """The engine's command line, the same as the reference engine takes."""
    flags = {"v": str(settings.router.verbosity), **settings.router.flags}
    if not settings.router.secure_serving:
        flags["secure-serving"] = "false"
    closing = ["--tracing=false"]
    if settings.monitoring.enabled:
        closing.append("--metrics-endpoint-auth=false")
    return [
        *_who(settings, names),
        *("--zap-encoder", "json"),
        *("--config-file", engine_config.path(settings)),
        *("--grpc-health-port", str(HEALTH_PORT)),
        *(f"--{name}={flags[name]}" for name in sorted(flags)),
        *closing,
    ]


def config_hash(*documents: Mapping[str, str]) -> dict[str, str]:
    """A pod annotation that changes with the documents the pod reads at start, so that a change rolls the pods."""
    digest = hashlib.sha256()
    for document in documents:
        for name in sorted(document):
            digest.update(f"{name}\0{document[name]}\0".encode())
    return {proxy.CONFIG_HASH: digest.hexdigest()}


def deployment(settings: StackSettings, names: Names, annotations: Mapping[str, str]) -> "DeploymentSpecArgsDict":
    """The router's workload. A new pod is ready before the old one goes."""
    return {
        "replicas": settings.router.replicas,
        "strategy": {"type": "RollingUpdate", "rolling_update": {"max_surge": 1, "max_unavailable": 0}},
        "selector": {"match_labels": names.selector},
        "template": {
            "metadata": {"labels": {**names.selector, **names.mode_label}, "annotations": annotations},
            "spec": pod(settings, names),
        },
    }


def pod(settings: StackSettings, names: Names) -> "PodSpecArgsDict":
    """The engine, with the proxy beside it unless that stands apart."""
    router = settings.router
    sidecar = router.proxy.mode == "sidecar"
    documents: VolumeArgsDict = {"name": CONFIG_VOLUME, "config_map": {"name": names.endpoint_picker}}
    spec: PodSpecArgsDict = {
        "service_account_name": names.endpoint_picker,
        "termination_grace_period_seconds": GRACE_SECONDS,
        "security_context": proxy.unprivileged(),
        "containers": [*([proxy.container(settings)] if sidecar else []), container(settings, names)],
        "volumes": [*([proxy.volume(settings)] if sidecar else []), documents],
    }
    if router.node_selector:
        spec["node_selector"] = router.node_selector
    if router.tolerations:
        spec["tolerations"] = tolerations(router.tolerations)
    if router.image_pull_secrets:
        spec["image_pull_secrets"] = [{"name": name} for name in router.image_pull_secrets]
    return spec


def container(settings: StackSettings, names: Names) -> "ContainerArgsDict":
    """The engine."""
    router = settings.router
    reference = image(settings, names)
    return {
        "name": "epp",
        "image": reference,
        "image_pull_policy": router.image.pull_policy or pull_policy(reference),
        "args": args(settings, names),
        "resources": {"requests": router.resources.requests, "limits": router.resources.limits},
        "ports": [
            {"name": "grpc", "container_port": EXT_PROC_PORT},
            {"name": "grpc-health", "container_port": HEALTH_PORT},
            {"name": "metrics", "container_port": METRICS_PORT},
        ],
        "liveness_probe": _probe(10, initial_delay_seconds=5),
        "readiness_probe": _probe(2),
        "env": _env(settings),
        "security_context": proxy.locked_down(),
        "volume_mounts": [{"name": CONFIG_VOLUME, "mount_path": engine_config.DIRECTORY}],
    }


def _who(settings: StackSettings, names: Names) -> list[str]:
    """How the engine finds its endpoints: a pool to watch, or the labels and ports themselves."""
    if names.pool:
        return ["--pool-name", names.release, "--pool-namespace", names.namespace, "--pool-group", POOL_GROUP]
    selector = ",".join(f"{key}={value}" for key, value in sorted(pod_selector(settings).items()))
    return ["--endpoint-selector", selector, "--endpoint-target-ports", str(MODEL_SERVER_PORT)]


def _env(settings: StackSettings) -> "list[EnvVarArgsDict]":
    return [
        {"name": "NAMESPACE", "value_from": {"field_ref": {"field_path": "metadata.namespace"}}},
        {"name": "POD_NAME", "value_from": {"field_ref": {"field_path": "metadata.name"}}},
        *({"name": name, "value": value} for name, value in settings.router.env.items()),
    ]


def _probe(period_seconds: int, initial_delay_seconds: int | None = None) -> "ProbeArgsDict":
    probe: ProbeArgsDict = {"grpc": {"port": HEALTH_PORT, "service": PROBED_SERVICE}, "period_seconds": period_seconds}
    if initial_delay_seconds is not None:
        probe["initial_delay_seconds"] = initial_delay_seconds
    return probe
