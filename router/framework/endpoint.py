"""Endpoints: one `ip:port` of one pod.

`LiveEndpoint` lives as long as the endpoint is a member of the pool; the data layer owns it. `Endpoint` is one request's view of
it: identity and metrics as they were when the request looked, live attributes, and attributes of that request alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from router.framework.attributes.key import DataKey

T = TypeVar("T")


def join_host_port(host: str, port: int) -> str:
    """`host:port`, with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointMetadata:
    """Who an endpoint is. Equal metadata means nothing about it changed."""

    id: str  # namespace/<pod>-rank-<n> from the Kubernetes API, namespace/name from a file
    name: str  # the pod's name
    namespace: str
    address: str  # IPv4 or IPv6 literal, without brackets
    port: int
    rank: int = 0  # index of the port among the pool's target ports
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    node_address: str = ""
    uid: str = ""  # changes when a pod of the same name is made anew

    @property
    def host_port(self) -> str:
        """Destination as headers carry it."""
        return join_host_port(self.address, self.port)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointMetrics:
    """What the last scrapes said. Fields a scrape did not bring keep their older value."""

    waiting_requests: int = 0
    running_requests: int = 0
    kv_cache_usage: float = 0.0  # 0..1
    running_adapters: frozenset[str] = frozenset()
    waiting_adapters: frozenset[str] = frozenset()
    max_adapters: int = 0
    cache_block_size: int = 0  # tokens; 0: not known
    cache_blocks: int = 0  # 0: not known
    updated_at: float | None = None  # clock seconds of the last scrape that brought anything; None: never


@dataclass(slots=True, eq=False)
class LiveEndpoint:
    """An endpoint as long as it exists. A pod made anew under the same name is another LiveEndpoint."""

    metadata: EndpointMetadata
    metrics: EndpointMetrics = field(default_factory=EndpointMetrics)
    attributes: dict[DataKey[Any], Any] = field(default_factory=dict[DataKey[Any], Any])  # written by endpoint listeners and extractors


class Endpoint:
    """One request's view of a live endpoint: a candidate. Compared and hashed by identity."""

    __slots__ = ("_own", "live", "metadata", "metrics")

    def __init__(self, live: LiveEndpoint) -> None:
        self.live = live
        self.metadata = live.metadata
        self.metrics = live.metrics
        self._own: dict[DataKey[Any], Any] = {}

    def read(self, key: DataKey[T]) -> T | None:
        """The value under `key`: this request's, else the live one, else None."""
        value = self._own.get(key)
        return self.live.attributes.get(key) if value is None else value

    def write(self, key: DataKey[T], value: T) -> None:
        """Store a value for this request."""
        self._own[key] = value

    def at_port(self, port: int) -> "Endpoint":
        """The same endpoint with the same values, reached through another port of its pod."""
        moved = Endpoint(self.live)
        moved.metadata = replace(self.metadata, port=port)
        moved.metrics = self.metrics
        moved._own = self._own
        return moved

    def __repr__(self) -> str:
        return f"Endpoint({self.metadata.id} {self.metadata.host_port})"
