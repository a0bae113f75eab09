"""Values that are typed already and not built yet: refused by name, never ignored."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from components.settings.models import CATALOGUE, LATER, ModelSettings

if TYPE_CHECKING:
    from components.settings.stack import StackSettings


def not_yet(stack: "StackSettings") -> Iterator[tuple[str, object, str]]:
    """Each setting that asks for something missing: its key, its value, what can be used today."""
    yield from _choices(stack)
    yield from _extras(stack)
    yield from _router(stack)
    yield from _tiers(stack)


def _choices(stack: "StackSettings") -> Iterator[tuple[str, object, str]]:
    if stack.topology != "aggregation":
        yield "topology", stack.topology, "aggregation"
    if stack.accelerator != "gpu":
        yield "accelerator", stack.accelerator, "gpu"
    if stack.model_server != "vllm":
        yield "modelServer", stack.model_server, "vllm"
    if stack.model.name in LATER or stack.model.model_fields_set - {"name"} or stack.model.name not in CATALOGUE:
        yield "model", _shown(stack.model), " or ".join(CATALOGUE)
    if stack.cluster.kind != "existing":
        yield "cluster.kind", stack.cluster.kind, "existing"
    for field in ("name", "project", "location"):
        if getattr(stack.cluster, field) is not None:
            yield f"cluster.{field}", getattr(stack.cluster, field), "cluster.context: the cluster exists already"


def _extras(stack: "StackSettings") -> Iterator[tuple[str, object, str]]:
    if "workload" in stack.model_fields_set:
        yield "workload", stack.workload, "no value: it wraps the roles of e-pd and e-p-d"
    if "lws" in stack.model_fields_set:
        yield "lws", stack.lws.source, "no value: aggregated serving needs no LeaderWorkerSet"
    if stack.crds.inference_extension.source == "manifest":
        yield "crds.inferenceExtension.source", "manifest", "bundled or assume"
    for field in ("manifest", "sha256"):
        if getattr(stack.crds.inference_extension, field) is not None:
            yield f"crds.inferenceExtension.{field}", getattr(stack.crds.inference_extension, field), "no value"
    if stack.tracing.enabled:
        yield "tracing.enabled", True, "false"
    if stack.monitoring.authentication:
        yield "monitoring.authentication", True, "false"


def _shown(model: ModelSettings) -> object:
    return model.name if model.model_fields_set == {"name"} else model.model_dump(exclude_unset=True)


def _router(stack: "StackSettings") -> Iterator[tuple[str, object, str]]:
    router = stack.router
    if router.mode != "standalone":
        yield "router.mode", router.mode, "standalone"
    if router.gateway is not None:
        yield "router.gateway", router.gateway, "no value: the router stands alone"
    if router.proxy.kind != "envoy":
        yield "router.proxy.kind", router.proxy.kind, "envoy"
    if router.replicas != 1:
        yield "router.replicas", router.replicas, "1"
    if router.image.build is not None:
        yield "router.image.build", "...", "router.image.ref"
    if router.client_tls_secret is not None:
        yield "router.clientTlsSecret", router.client_tls_secret, "no value: clients speak plain HTTP to the proxy"
    if router.api_keys:
        yield "router.apiKeys", True, "false"


def _tiers(stack: "StackSettings") -> Iterator[tuple[str, object, str]]:
    for role in ("encode", "prefill"):
        if getattr(stack.tiers, role) is not None:
            yield f"tiers.{role}", "...", "tiers.decode, the only role of aggregation"
    tier = stack.tiers.decode
    if tier.accelerator not in (None, stack.accelerator):
        yield "tiers.decode.accelerator", tier.accelerator, f"{stack.accelerator}, as the stack's"
    if tier.disruption_budget is not None:
        yield "tiers.decode.disruptionBudget", tier.disruption_budget, "no value"
    if tier.autoscaling is not None:
        yield "tiers.decode.autoscaling", tier.autoscaling, "tiers.decode.replicas"
