"""Builders of small Kubernetes objects for tests of the local runner; each takes only what a test is about."""

from collections.abc import Mapping, Sequence
from typing import Any

NAMESPACE = "serving"
POOL_LABELS = {"app": "model"}
ROUTER_LABELS = {"app": "router"}
ENGINE_DOCUMENT = "apiVersion: llm-d.ai/v1\nkind: EndpointPickerConfig\nplugins:\n- type: token-load-scorer\n"


def container(name: str = "modelserver", **fields: Any) -> dict[str, Any]:
    return {"name": name, "image": f"example/{name}:1", **fields}


def model_container(**fields: Any) -> dict[str, Any]:
    ports = [{"name": "modelserver", "containerPort": 8000}]
    given: dict[str, Any] = {"command": ["vllm", "serve"], "args": ["tiny/model"], "ports": ports, **fields}
    return container(**given)


def engine_container(**fields: Any) -> dict[str, Any]:
    ports = [{"name": "grpc", "containerPort": 9002}, {"name": "metrics", "containerPort": 9090}, {"name": "http", "containerPort": 8081}]
    args = ["--pool-name", "pool", "--config-file", "/config/engine.yaml"]
    given = {"args": args, "ports": ports, "volumeMounts": [CONFIG_MOUNT], **fields}
    return container("epp", **given)


CONFIG_MOUNT = {"name": "config", "mountPath": "/config"}
CONFIG_VOLUME = {"name": "config", "configMap": {"name": "engine"}}


def deployment(
    name: str = "model",
    containers: Sequence[Mapping[str, Any]] | None = None,
    *,
    replicas: int = 1,
    labels: Mapping[str, str] = POOL_LABELS,
    **pod_spec: Any,
) -> dict[str, Any]:
    spec = {"containers": list(containers) if containers is not None else [model_container()], **pod_spec}
    template = {"metadata": {"labels": dict(labels)}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"replicas": replicas, "selector": {"matchLabels": dict(labels)}, "template": template},
    }


def service(name: str = "router", selector: Mapping[str, str] = ROUTER_LABELS, ports: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    given = list(ports) or [{"name": "http", "port": 80, "targetPort": 8081}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"selector": dict(selector), "ports": given},
    }


def pool(name: str = "pool", selector: Mapping[str, str] = POOL_LABELS, ports: Sequence[int] = (8000,)) -> dict[str, Any]:
    spec = {"selector": {"matchLabels": dict(selector)}, "targetPorts": [{"number": port} for port in ports]}
    return {
        "apiVersion": "inference.networking.k8s.io/v1",
        "kind": "InferencePool",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": spec,
    }


def config_map(name: str = "engine", data: Mapping[str, str] | None = None) -> dict[str, Any]:
    contents = dict(data) if data is not None else {"engine.yaml": ENGINE_DOCUMENT}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": NAMESPACE}, "data": contents}


def secret(name: str, data: Mapping[str, str]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": NAMESPACE}, "data": dict(data)}


def router_deployment(**fields: Any) -> dict[str, Any]:
    return deployment("router", [engine_container(**fields)], labels=ROUTER_LABELS, volumes=[CONFIG_VOLUME])


def small_stack(replicas: int = 2, model: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """A router with one engine container, model servers, the pool that joins them and the Service in front."""
    servers = deployment(containers=[dict(model) if model is not None else model_container()], replicas=replicas)
    return [config_map(), router_deployment(), servers, service(), pool()]
