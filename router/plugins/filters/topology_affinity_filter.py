"""Keeps endpoints close to the one that an earlier stage chose."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from router.framework.attributes.peer_endpoint import peer_endpoint
from router.framework.attributes.topology import LEVELS, PRODUCER, Topology, topology
from router.framework.endpoint import Endpoint
from router.framework.plugin import Consumes, Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Filter

TYPE = "topology-affinity-filter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    min_affinity: Literal["host", "rack", "zone", "region"] = "host"
    topology_producer_name: str = PRODUCER


class TopologyAffinityFilter(Filter):
    """At least as close as `minAffinity`; all where the other's place is unknown or nobody is that close."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._level = LEVELS.index(parameters.min_affinity)
        self._topology = topology(parameters.topology_producer_name or PRODUCER)
        self._peer = peer_endpoint()

    def consumes(self) -> Consumes:
        """Places, and the endpoint to be close to."""
        return Consumes(optional=frozenset({self._topology, self._peer}))

    def filter(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """By the closest place shared: a preference, so it never leaves a request without endpoint."""
        peer = request.read(self._peer)
        place = peer.read(self._topology) if peer else None
        if place is None or not place.known:
            return endpoints
        return [endpoint for endpoint in endpoints if self._close(place, endpoint)] or endpoints

    def _close(self, place: Topology, endpoint: Endpoint) -> bool:
        other = endpoint.read(self._topology)
        level = place.shared_level(other) if other else None
        return level is not None and level <= self._level
