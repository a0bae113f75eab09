"""Services of the router: the engine's, the separate proxy's, and a load balancer that shows clients the proxy alone."""

from typing import TYPE_CHECKING, Final

from components.plan.names import EXT_PROC_PORT, HTTP_PORT_NAME, METRICS_PORT, PROXY_PORT, Names
from components.settings.stack import StackSettings

if TYPE_CHECKING:
    from pulumi_kubernetes.core.v1 import ServicePortArgsDict, ServiceSpecArgsDict

INTERNAL_ANNOTATIONS: Final[dict[str, dict[str, str]]] = {"gke": {"networking.gke.io/load-balancer-type": "Internal"}}


def has_own_service(settings: StackSettings) -> bool:
    """Whether clients reach the proxy by a Service of its own rather than by the engine's."""
    return settings.router.proxy.mode == "service" or settings.router.service.type == "LoadBalancer"


def endpoint_service(settings: StackSettings, names: Names) -> str:
    """The Service that clients use."""
    return names.proxy if has_own_service(settings) else names.endpoint_picker


def engine(settings: StackSettings, names: Names) -> "ServiceSpecArgsDict":
    """Always inside the cluster: ext_proc and metrics are not for clients."""
    return {
        "type": "ClusterIP",
        "selector": names.selector,
        "ports": [
            {"name": "grpc-ext-proc", "protocol": "TCP", "port": EXT_PROC_PORT, "app_protocol": "kubernetes.io/h2c"},
            {"name": "http-metrics", "protocol": "TCP", "port": METRICS_PORT},
            _http(settings),
        ],
    }


def proxy(settings: StackSettings, names: Names) -> "ServiceSpecArgsDict":
    """The client's port alone, before whichever pods hold the proxy."""
    apart = settings.router.proxy.mode == "service"
    return {
        "type": settings.router.service.type,
        "selector": names.proxy_selector if apart else names.selector,
        "ports": [_http(settings)],
    }


def annotations(settings: StackSettings) -> dict[str, str]:
    """Annotations of the client's Service: what makes a load balancer internal, and what the stack adds."""
    service = settings.router.service
    internal = INTERNAL_ANNOTATIONS.get(settings.provider, {}) if service.internal else {}
    return {**internal, **service.annotations}


def _http(settings: StackSettings) -> "ServicePortArgsDict":
    return {"name": HTTP_PORT_NAME, "port": settings.router.service.port, "protocol": "TCP", "target_port": PROXY_PORT}
