"""What a stack tells its user: addresses and the commands to try next."""

from typing import Final

from components.plan.names import Names
from components.plan.service import endpoint_service
from components.plan.topologies import pod_selector
from components.settings.stack import StackSettings

FORWARDED_PORT: Final = 8080  # on the user's machine


def selector(settings: StackSettings) -> str:
    """The model servers, as `kubectl -l` takes it."""
    return ",".join(f"{key}={value}" for key, value in pod_selector(settings).items())


def url(settings: StackSettings, address: str) -> str:
    """The endpoint's URL at `address`, an IP address or a host name."""
    host = f"[{address}]" if ":" in address else address
    port = settings.router.service.port
    return f"http://{host}" if port == 80 else f"http://{host}:{port}"


def connect_command(settings: StackSettings, names: Names, address: str) -> str:
    """How to reach the endpoint from outside: its address where it has one, else a forwarded port."""
    if settings.router.service.type == "LoadBalancer":
        return f"curl {url(settings, address)}/v1/models"
    service = endpoint_service(settings, names)
    return f"kubectl port-forward --namespace {names.namespace} service/{service} {FORWARDED_PORT}:{settings.router.service.port}"


def verify_command(settings: StackSettings, names: Names, address: str) -> str:
    """How to check the deployment, once it can be reached as `connect_command` says; counters are read with kubectl."""
    outside = settings.router.service.type == "LoadBalancer"
    target = url(settings, address) if outside else f"http://127.0.0.1:{FORWARDED_PORT}"
    pods = f"--namespace {names.namespace} --selector {selector(settings)}"
    return f"mmserve verify --url {target} --model {settings.model.name} {pods}"
