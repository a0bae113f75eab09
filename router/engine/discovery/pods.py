"""Which pods are endpoints, and which endpoints they are."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from router import wire
from router.engine.datalayer.endpoints import Endpoints
from router.framework.endpoint import EndpointMetadata

Object = Mapping[str, Any]

_PORT = re.compile(r"[0-9]{1,5}")


def members(pod: Object, ports: Sequence[int]) -> list[EndpointMetadata]:
    """The endpoints of a pod: one for each target port that is active; none unless it has an address, is ready and stays."""
    metadata, status = pod.get("metadata") or {}, pod.get("status") or {}
    address = status.get("podIP")
    if not address or metadata.get("deletionTimestamp") or not _ready(status):
        return []
    active = _active_ports(metadata.get("annotations") or {})
    name, namespace = metadata["name"], metadata.get("namespace", "")
    return [
        EndpointMetadata(
            id=f"{namespace}/{name}-rank-{rank}",
            name=name,
            namespace=namespace,
            address=address,
            port=port,
            rank=rank,
            labels=dict(metadata.get("labels") or {}),
            node_address=status.get("hostIP") or "",
            uid=metadata.get("uid") or "",
        )
        for rank, port in enumerate(ports)
        if active is None or port in active
    ]


class PodFollower:
    """Turns what a watch says about pods into members of the pool."""

    def __init__(self, endpoints: Endpoints, ports: Sequence[int]) -> None:
        self._endpoints = endpoints
        self._ports = tuple(ports)
        self._of_pod: dict[tuple[str, str], tuple[str, ...]] = {}
        self.synced = False

    def listed(self, objects: Sequence[Object]) -> None:
        """These are all pods."""
        self._of_pod = {}
        wanted: list[EndpointMetadata] = []
        for pod in objects:
            found = members(pod, self._ports)
            self._of_pod[_key(pod)] = tuple(metadata.id for metadata in found)
            wanted += found
        self._endpoints.replace_all(wanted)
        self.synced = True

    def changed(self, found: Object) -> None:
        """A pod as it is now."""
        now = members(found, self._ports)
        ids = tuple(metadata.id for metadata in now)
        for endpoint_id in self._of_pod.get(_key(found), ()):
            if endpoint_id not in ids:
                self._endpoints.remove(endpoint_id)
        for metadata in now:
            self._endpoints.upsert(metadata)
        self._of_pod[_key(found)] = ids

    def deleted(self, found: Object) -> None:
        """A pod that is gone, or no longer selected. One made anew under its name is another and stays."""
        uid = (found.get("metadata") or {}).get("uid") or ""
        known = [self._endpoints.get(endpoint_id) for endpoint_id in self._of_pod.get(_key(found), ())]
        if any(endpoint is not None and uid and endpoint.metadata.uid != uid for endpoint in known):
            return
        for endpoint_id in self._of_pod.pop(_key(found), ()):
            self._endpoints.remove(endpoint_id)


def _key(pod: Object) -> tuple[str, str]:
    metadata = pod.get("metadata") or {}
    return (metadata.get("namespace", ""), metadata.get("name", ""))


def _ready(status: Mapping[str, Any]) -> bool:
    return any(condition.get("type") == "Ready" and condition.get("status") == "True" for condition in status.get("conditions") or ())


def _active_ports(annotations: Mapping[str, str]) -> frozenset[int] | None:
    """Ports whose engines are up, as the pod itself states; None: it does not say."""
    text = next((annotations[name] for name in wire.ACTIVE_PORTS_ANNOTATIONS if name in annotations), None)
    if text is None:
        return None
    return frozenset(int(part) for part in map(str.strip, text.split(",")) if _PORT.fullmatch(part))
