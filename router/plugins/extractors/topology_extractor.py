"""Reads off pod labels where an endpoint stands: host, rack, zone, region.

Without the host label the node's address names the host: pods of one node share it.
"""

from dataclasses import dataclass
from typing import Any

from router.framework.attributes.key import DataKey
from router.framework.attributes.topology import Topology, topology
from router.framework.control import EndpointListener
from router.framework.endpoint import LiveEndpoint
from router.framework.plugin import Handle

TYPE = "topology-extractor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin: names of pod labels."""

    hostname: str = "kubernetes.io/hostname"
    rack: str = "topology.kubernetes.io/rack"
    zone: str = "topology.kubernetes.io/zone"
    region: str = "topology.kubernetes.io/region"


class TopologyExtractor(EndpointListener):
    """Writes `Topology` as an endpoint appears."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._labels = parameters
        self._key = topology(name)

    def produces(self) -> frozenset[DataKey[Any]]:
        """The place of each endpoint."""
        return frozenset({self._key})

    def endpoint_added(self, endpoint: LiveEndpoint) -> None:
        """Read its labels."""
        labels, names = endpoint.metadata.labels, self._labels
        endpoint.attributes[self._key] = Topology(
            hostname=labels.get(names.hostname) or endpoint.metadata.node_address,
            rack=labels.get(names.rack, ""),
            zone=labels.get(names.zone, ""),
            region=labels.get(names.region, ""),
        )

    def endpoint_removed(self, endpoint: LiveEndpoint) -> None:
        """Its attributes leave with it."""
