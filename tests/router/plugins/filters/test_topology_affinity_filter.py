import pytest

from router.framework.attributes.peer_endpoint import peer_endpoint
from router.framework.attributes.topology import Topology, topology
from router.framework.endpoint import Endpoint
from router.framework.parameters import decode
from router.plugins.filters.topology_affinity_filter import TYPE, Parameters, TopologyAffinityFilter
from tests.support.engine import candidate, inference_request, make_handle, names_of


def standing(name: str, **place: str) -> Endpoint:
    endpoint = candidate(name)
    endpoint.live.attributes[topology()] = Topology(**place)
    return endpoint


def kept(level: str, peer: Endpoint | None) -> list[str]:
    request = inference_request()
    if peer is not None:
        request.write(peer_endpoint(), peer)
    pool = [standing("host", hostname="h", rack="r"), standing("rack", rack="r"), standing("far", zone="y"), candidate("unknown")]

    return names_of(TopologyAffinityFilter(TYPE, decode(Parameters, {"minAffinity": level}), make_handle()).filter(request, pool))


@pytest.mark.parametrize(("level", "names"), [("host", ["host"]), ("rack", ["host", "rack"]), ("region", ["host", "rack"])])
def test_endpoints_close_enough_are_kept(level: str, names: list[str]) -> None:
    assert kept(level, standing("peer", hostname="h", rack="r", zone="z")) == names


@pytest.mark.parametrize("peer", [None, candidate("peer"), standing("peer"), standing("peer", zone="nowhere")])
def test_all_are_kept_where_nobody_is_known_to_be_close(peer: Endpoint | None) -> None:
    assert kept("host", peer) == ["host", "rack", "far", "unknown"]
