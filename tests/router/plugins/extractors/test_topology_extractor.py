from dataclasses import replace

import pytest

from router.framework.attributes.topology import Topology, topology
from router.framework.parameters import decode
from router.plugins.extractors.topology_extractor import TYPE, Parameters, TopologyExtractor
from tests.support.engine import live_endpoint, make_handle

LABELS = {
    "kubernetes.io/hostname": "h",
    "topology.kubernetes.io/rack": "r",
    "topology.kubernetes.io/zone": "z",
    "topology.kubernetes.io/region": "g",
    "slice": "s",
}


@pytest.mark.parametrize(
    ("parameters", "labels", "place"),
    [
        ({}, LABELS, Topology(hostname="h", rack="r", zone="z", region="g")),
        ({"hostname": "slice"}, LABELS, Topology(hostname="s", rack="r", zone="z", region="g")),
        ({}, {}, Topology(hostname="10.1.1.1")),
    ],
)
def test_labels_say_where_an_endpoint_stands(parameters: dict[str, str], labels: dict[str, str], place: Topology) -> None:
    endpoint = live_endpoint(labels=labels)
    endpoint.metadata = replace(endpoint.metadata, node_address="10.1.1.1")

    TopologyExtractor(TYPE, decode(Parameters, parameters), make_handle()).endpoint_added(endpoint)

    assert endpoint.attributes[topology()] == place
