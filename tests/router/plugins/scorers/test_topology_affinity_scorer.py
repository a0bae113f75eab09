from router.framework.attributes.peer_endpoint import peer_endpoint
from router.framework.attributes.topology import Topology, topology
from router.framework.endpoint import Endpoint
from router.plugins.scorers.topology_affinity_scorer import TYPE, Parameters, TopologyAffinityScorer
from tests.support.engine import candidate, inference_request, make_handle


def standing(**place: str) -> Endpoint:
    endpoint = candidate()
    endpoint.live.attributes[topology()] = Topology(**place)
    return endpoint


def test_the_closest_place_shared_counts() -> None:
    request = inference_request()
    request.write(peer_endpoint(), standing(hostname="h", rack="r", zone="z", region="g"))
    pool = [standing(hostname="h", rack="r"), standing(rack="r"), standing(zone="z"), standing(region="g"), standing(), candidate()]

    scores = TopologyAffinityScorer(TYPE, Parameters(), make_handle()).score(request, pool)

    assert list(scores.values()) == [1.0, 0.2, 0.05, 0.02, 0.0, 0.0]


def test_all_score_nothing_without_an_earlier_stage() -> None:
    scores = TopologyAffinityScorer(TYPE, Parameters(), make_handle()).score(inference_request(), [standing(hostname="h")])

    assert list(scores.values()) == [0.0]
