"""A rendered stack as this machine will play it: pods, addresses, pools, URL. Pure data, decided before anything starts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from local.addresses import AddressTable, LocalService, assign, container_port, locate_services
from local.discovery import Pool, flag_values, pool_of
from local.errors import LocalError
from local.images import kind_of
from local.mounts import Documents
from local.pods import DEFAULT_REPLICAS, Pod, expand

CLIENT_PORT = "http"  # name of the Service port for clients
METRICS_PORT = 9090  # the engine's default


@dataclass(frozen=True, slots=True, kw_only=True)
class StackPlan:
    """What will run where."""

    name: str
    pods: Sequence[Pod]
    addresses: Mapping[str, str]
    services: Sequence[LocalService]
    pools: Mapping[str, Pool]  # by the key of the engine's pod
    documents: Documents
    url: str
    model: str

    def table(self, pod: Pod) -> AddressTable:
        """The address table inside `pod`."""
        return AddressTable(self.addresses[pod.key], pod.namespace, self.services)

    @property
    def model_servers(self) -> list[tuple[Pod, str]]:
        """Members of the pools, with the URL of each one's API."""
        return [
            (pod, f"http://{self.addresses[pod.key]}:{_serving_port(pod, pool)}")
            for pod in self.pods
            for pool in self.pools.values()
            if pool.holds(pod)
        ]

    @property
    def engines(self) -> list[tuple[Pod, str]]:
        """Pods with an engine, with the URL of its metrics."""
        return [(pod, f"http://{self.addresses[pod.key]}:{_metrics_port(pod)}/metrics") for pod in self.pods if pod.key in self.pools]

    @property
    def ports(self) -> list[tuple[str, int]]:
        """Every address and port that a container declares."""
        return [(self.addresses[pod.key], port) for pod in self.pods for port in declared_ports(pod)]


def plan_stack(
    name: str, objects: Iterable[Mapping[str, Any]], *, limit: int | None = DEFAULT_REPLICAS, model: str | None = None
) -> StackPlan:
    """Decide how `objects` are played; raises LocalError for what cannot be."""
    rendered = list(objects)
    namespace = _namespace(rendered)
    pods = sorted(expand(rendered, limit=limit, namespace=namespace), key=lambda pod: pod.role != "router")
    if not pods:
        raise LocalError(f"stack {name}: no workload, so there is nothing to run")
    addresses = assign(pods, name)
    services = locate_services(rendered, pods, addresses)
    pools = {pod.key: pool_of(args, rendered, pod.namespace) for pod in pods if (args := _engine_args(pod)) is not None}
    for pool in pools.values():
        if not any(pool.holds(pod) for pod in pods):
            raise LocalError(f"pool {pool.name}: no pod carries its labels {dict(pool.selector)}; the engine would have no endpoint")
    return StackPlan(
        name=name,
        pods=pods,
        addresses=addresses,
        services=services,
        pools=pools,
        documents=Documents(rendered, namespace),
        url=_client_url(services, pods, addresses),
        model=model or _model_of(pods, pools),
    )


def declared_ports(pod: Pod) -> list[int]:
    """Container ports of a pod, in the order of the spec."""
    containers = (*pod.init_containers, *pod.containers)
    return list(dict.fromkeys(port["containerPort"] for container in containers for port in container.get("ports") or []))


def _namespace(objects: Sequence[Mapping[str, Any]]) -> str:
    """The router's namespace (its pool's or Service's), which is where objects without one are applied."""
    named = [
        item["metadata"]["namespace"]
        for kind in ("InferencePool", "Service")
        for item in objects
        if item["kind"] == kind and "namespace" in item["metadata"]
    ]
    return named[0] if named else "default"


def _engine_args(pod: Pod) -> Sequence[str] | None:
    for container in pod.containers:
        if kind_of(container) == "engine":
            return container.get("args") or []
    return None


def _metrics_port(pod: Pod) -> int:
    return int(flag_values(_engine_args(pod) or []).get("metrics-port", METRICS_PORT))


def _serving_port(pod: Pod, pool: Pool) -> int:
    try:
        return container_port(pod.containers, "modelserver")  # behind a routing sidecar the counters are on another port than the pool's
    except LocalError:
        return pool.ports[0]


def _client_url(services: Sequence[LocalService], pods: Sequence[Pod], addresses: Mapping[str, str]) -> str:
    """The URL of the Service whose client port reaches a container; the same at each run."""
    by_address = {addresses[pod.key]: pod for pod in pods}
    for service in services:
        target = service.port_names.get(CLIENT_PORT)
        if target is not None and target in declared_ports(by_address[service.address]):
            return f"http://{service.address}:{target}"
    raise LocalError(f"no Service has a port named {CLIENT_PORT!r} that a container serves, so clients could not reach the stack")


def _model_of(pods: Sequence[Pod], pools: Mapping[str, Pool]) -> str:
    """The model's name for requests: `--served-model-name`, else the positional argument."""
    for pod in pods:
        for container in pod.containers:
            if any(pool.holds(pod) for pool in pools.values()) and kind_of(container) == "model-server":
                args: Sequence[str] = container.get("args") or []
                positional = next((arg for arg in args if not arg.startswith("-") and arg != "serve"), "")
                return flag_values(args).get("served-model-name", positional)
    return ""
