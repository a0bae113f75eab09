from collections import Counter
from random import Random

import pytest

from router.engine.control.candidates import Candidates
from router.engine.datalayer.endpoints import Endpoints
from router.engine.extproc.random_route import RandomRoute
from router.framework.compat import Compat
from router.framework.endpoint import EndpointMetadata
from router.framework.errors import DroppedReason, ErrorCode, RequestError
from tests.support.exchange import endpoint_metadata


def route(*members: EndpointMetadata, reference: bool = False) -> RandomRoute:
    endpoints = Endpoints()
    endpoints.replace_all(members)
    return RandomRoute(Candidates(endpoints, ignore_subset=False), random=Random(3), compat=Compat(reference=reference))


def pods(count: int, role: str | None = None) -> list[EndpointMetadata]:
    labels = {"llm-d.ai/role": role} if role else {}
    return [endpoint_metadata(f"{role}-{n}", f"10.0.0.{n}", 8000, labels) for n in range(1, count + 1)]


def test_picks_go_round() -> None:
    chosen = route(*pods(3))

    assert Counter(chosen.pick(None) for _ in range(9)) == {f"10.0.0.{n}:8000": 3 for n in (1, 2, 3)}


def test_reference_picks_at_random() -> None:
    chosen = route(*pods(3), reference=True)

    picks = Counter(chosen.pick(None) for _ in range(300))

    assert min(picks.values()) > 50
    assert len(set(picks.values())) > 1


def test_subset_is_honoured() -> None:
    chosen = route(*pods(3))

    assert {chosen.pick(["10.0.0.2:1"]) for _ in range(5)} == {"10.0.0.2:8000"}


def test_workers_of_other_stages_are_avoided() -> None:
    encoder = endpoint_metadata("e", "10.0.1.1", 8000, {"llm-d.ai/role": "encode"})
    prefiller = endpoint_metadata("p", "10.0.1.2", 8000, {"llm-d.ai/role": "prefill"})
    chosen = route(encoder, *pods(2, "decode"), prefiller)

    assert {chosen.pick(None) for _ in range(10)} == {"10.0.0.1:8000", "10.0.0.2:8000"}


def test_workers_of_other_stages_are_better_than_none() -> None:
    assert route(*pods(1, "encode")).pick(None) == "10.0.0.1:8000"


def test_field_P09_ipv6_address_is_bracketed() -> None:
    assert route(endpoint_metadata("a", "fd00::1", 8000)).pick(None) == "[fd00::1]:8000"


def test_empty_pool_is_an_internal_error() -> None:
    with pytest.raises(RequestError, match="no pods available in datastore") as caught:
        route().pick(None)

    assert caught.value.code is ErrorCode.Internal


def test_empty_subset_is_unavailable() -> None:
    with pytest.raises(RequestError) as caught:
        route(*pods(1)).pick([])

    assert (caught.value.code, caught.value.dropped_reason) == (ErrorCode.ServiceUnavailable, DroppedReason.NO_ENDPOINTS)


def test_members_that_come_and_go_do_not_pile_up() -> None:
    endpoints = Endpoints()
    chosen = RandomRoute(Candidates(endpoints, ignore_subset=False), random=Random(3), compat=Compat())
    for number in range(100):
        endpoints.replace_all([endpoint_metadata(f"pod-{number}", "10.0.0.1", 8000)])
        chosen.pick(None)

    assert len(vars(chosen)["_picked_at"]) <= 3
