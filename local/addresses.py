"""Pods and Services on loopback, and the one table that rewrites addresses.

Each pod has an address of its own in 127.0.0.0/8, the same at each run of a stack. Inside a pod everything that means
"all interfaces" or "this host" becomes that address, and a Service's name becomes the address of the pod behind it: in
arguments, environment and mounted documents alike. Called by `local.plan` and `local.mounts`.
"""

import hashlib
import ipaddress
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from local.errors import LocalError
from local.pods import Pod, matches

FIRST_OCTET = 127
SECOND_OCTETS = (64, 64)  # 127.64.x.y to 127.127.x.y: above the addresses that resolvers and distributions use for themselves
BLOCK = 1022  # pods a stack: the addresses of four neighbouring third octets without the first and the last
NAMED_HOSTS = re.compile(r"(?<![\w.\-])(?:0\.0\.0\.0|127\.0\.0\.1|localhost)(?![\w\-]|\.\w|/\d)|\[::1?\]|(?<=tcp://)\*")
BARE_IPV6 = re.compile(r"^(?P<flag>--?[\w\-]+=)?::1?$")  # `::` means an address only where it stands alone


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalService:
    """A Service on this machine: the pod that answers for it, and which of the pod's ports each of its ports is."""

    name: str
    namespace: str
    address: str
    ports: Mapping[int, int]
    port_names: Mapping[str, int]


def assign(pods: Sequence[Pod], stack: str) -> dict[str, str]:
    """One address a pod, by the pod's key: it follows from the stack's name and the pod's place in `pods`."""
    if len(pods) > BLOCK:
        raise LocalError(f"{len(pods)} pods: at most {BLOCK} have an address on this machine; lower --replicas")
    digest = hashlib.sha256(stack.encode()).digest()
    start, count = SECOND_OCTETS
    network = ipaddress.IPv4Address(bytes((FIRST_OCTET, start + digest[0] % count, digest[1] & 0b11111100, 0)))
    return {pod.key: str(network + 1 + number) for number, pod in enumerate(pods)}


def locate_services(objects: Iterable[Mapping[str, Any]], pods: Sequence[Pod], addresses: Mapping[str, str]) -> list[LocalService]:
    """The Services that select a pod; each is played by the first pod it selects."""
    services: list[LocalService] = []
    for item in objects:
        if item["kind"] != "Service":
            continue
        spec, metadata = item["spec"], item["metadata"]
        namespace = metadata.get("namespace") or (pods[0].namespace if pods else "default")
        behind = [pod for pod in pods if pod.namespace == namespace and matches(spec.get("selector") or {}, pod.labels)]
        if behind:
            ports = {port["port"]: _target_port(port, behind[0]) for port in spec.get("ports") or []}
            names = {port["name"]: ports[port["port"]] for port in spec.get("ports") or [] if "name" in port}
            address = addresses[behind[0].key]
            services.append(LocalService(name=metadata["name"], namespace=namespace, address=address, ports=ports, port_names=names))
    return services


def container_port(containers: Iterable[Mapping[str, Any]], port: int | str) -> int:
    """The number of a port given as number, digits or the name of a container's port; raises LocalError when none has the name."""
    if isinstance(port, int) or port.isdigit():
        return int(port)
    found = [entry["containerPort"] for container in containers for entry in container.get("ports") or [] if entry.get("name") == port]
    if not found:
        raise LocalError(f"no container has a port named {port!r}")
    return found[0]


def _target_port(port: Mapping[str, Any], pod: Pod) -> int:
    return container_port(pod.containers, port.get("targetPort", port["port"]))


class AddressTable:
    """What each address and name means inside one pod."""

    def __init__(self, own: str, namespace: str, services: Sequence[LocalService] = ()) -> None:
        self.own = own
        self._services = {name: service for service in services for name in _names(service, namespace)}
        words = "|".join(re.escape(name) for name in sorted(self._services, key=len, reverse=True))
        # A bare word may be anything, so a short name counts only where it stands for a host: alone, after //, or with a port.
        self._named = re.compile(rf"(?P<scheme>^|//|@|,|=)(?P<name>{words})(?::(?P<port>\d+))?(?=$|[/,\s])") if words else None

    def text(self, value: str) -> str:
        """`value` with every address and Service name replaced."""
        bare = BARE_IPV6.match(value)
        if bare:
            return f"{bare['flag'] or ''}{self.own}"
        replaced = NAMED_HOSTS.sub(self.own, value)
        return self._named.sub(self._local_service, replaced) if self._named else replaced

    def tree(self, value: Any) -> Any:
        """The same for plain data: every string, and Envoy's `address` with its `port_value` as a pair.

        An additional address of a listener that turns into the listener's own would be bound twice, so it is left out.
        """
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.tree(item) for item in value]
        if not isinstance(value, dict):
            return value
        service = self._services.get(value["address"]) if isinstance(value.get("address"), str) else None
        if service is not None and "port_value" in value:
            port = service.ports.get(value["port_value"], value["port_value"])
            return {**value, "address": service.address, "port_value": port}
        return _without_twins({key: self.tree(item) for key, item in value.items()})

    def document(self, text: str) -> str:
        """A mounted document: rewritten as a tree where it is a YAML or JSON mapping, else as text; untouched where nothing changes."""
        try:
            parsed: Any = yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe loader, in C or in Python
        except yaml.YAMLError:
            return self.text(text)
        if not isinstance(parsed, dict):
            return self.text(text)
        rewritten = self.tree(parsed)
        if rewritten == parsed:
            return text
        if text.lstrip().startswith("{"):
            return json.dumps(rewritten, indent=2)
        return yaml.dump(rewritten, Dumper=_DUMPER, sort_keys=False, width=10_000)

    def _local_service(self, match: re.Match[str]) -> str:
        service = self._services[match["name"]]
        port = "" if match["port"] is None else f":{service.ports.get(int(match['port']), int(match['port']))}"
        return f"{match['scheme']}{service.address}{port}"


_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C parser where the wheel has it: ten times faster
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def _names(service: LocalService, namespace: str) -> Iterable[str]:
    """The names under which a pod of `namespace` finds the Service."""
    qualified = f"{service.name}.{service.namespace}"
    yield from (qualified, f"{qualified}.svc", f"{qualified}.svc.cluster.local")
    if service.namespace == namespace:
        yield service.name


def _without_twins(value: dict[str, Any]) -> dict[str, Any]:
    if "address" not in value or "additional_addresses" not in value:
        return value
    kept = [entry for entry in value["additional_addresses"] if entry != {"address": value["address"]}]
    without = {key: item for key, item in value.items() if key != "additional_addresses"}
    return {**without, "additional_addresses": kept} if kept else without
