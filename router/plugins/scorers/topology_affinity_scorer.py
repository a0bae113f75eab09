"""Prefers endpoints close to the one that an earlier stage chose: moving caches between them is faster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from router.framework.attributes.peer_endpoint import peer_endpoint
from router.framework.attributes.topology import PRODUCER, topology
from router.framework.endpoint import Endpoint
from router.framework.plugin import Consumes, Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Scorer

TYPE = "topology-affinity-scorer"
LEVEL_SCORES = (1.0, 0.2, 0.05, 0.02)  # host, rack, zone, region: after the bandwidth between them


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    topology_producer_name: str = PRODUCER


class TopologyAffinityScorer(Scorer):
    """A fixed score for the closest place shared, 0 for none."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._topology = topology(parameters.topology_producer_name or PRODUCER)
        self._peer = peer_endpoint()

    def consumes(self) -> Consumes:
        """Places, and the endpoint to be close to."""
        return Consumes(optional=frozenset({self._topology, self._peer}))

    def score(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Mapping[Endpoint, float]:
        """All 0 without an earlier stage."""
        peer = request.read(self._peer)
        place = peer.read(self._topology) if peer else None
        if place is None:
            return dict.fromkeys(endpoints, 0.0)
        others = ((endpoint, endpoint.read(self._topology)) for endpoint in endpoints)
        levels = ((endpoint, place.shared_level(other) if other else None) for endpoint, other in others)
        return {endpoint: 0.0 if level is None else LEVEL_SCORES[level] for endpoint, level in levels}
