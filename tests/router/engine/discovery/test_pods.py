from typing import Any

import pytest

from router.engine.datalayer.endpoints import Endpoints
from router.engine.discovery.pods import PodFollower, members
from tests.support.api_server import pod


def ids(endpoints: Endpoints) -> list[str]:
    return [endpoint.metadata.id for endpoint in endpoints.all()]


def follower(*ports: int) -> tuple[PodFollower, Endpoints]:
    endpoints = Endpoints()
    return PodFollower(endpoints, ports or (8000,)), endpoints


def test_a_ready_pod_is_one_endpoint_for_each_target_port() -> None:
    first, second = members(pod("a"), [8000, 8001])

    assert (first.id, first.port, first.rank) == ("default/a-rank-0", 8000, 0)
    assert (second.id, second.port, second.rank) == ("default/a-rank-1", 8001, 1)
    assert (first.name, first.namespace, first.address, first.node_address) == ("a", "default", "10.0.0.1", "192.168.0.1")
    assert (first.labels, first.uid) == ({"app": "x"}, "1")


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(pod(ready=False), id="not-ready"),
        pytest.param(pod(ip=None), id="no-address"),
        pytest.param(pod(ip=""), id="empty-address"),
        pytest.param(pod(deletionTimestamp="2026-01-01T00:00:00Z"), id="being-deleted"),
        pytest.param({"metadata": {"name": "a", "namespace": "default"}, "status": {}}, id="no-conditions"),
        pytest.param({"metadata": {"name": "a"}}, id="no-status"),
    ],
)
def test_other_pods_are_no_endpoints(found: dict[str, Any]) -> None:
    assert members(found, [8000]) == []


@pytest.mark.parametrize(
    ("annotations", "ports"),
    [
        pytest.param({"llm-d.ai/active-ports": "8001"}, [8001], id="one"),
        pytest.param({"llm-d.ai/active-ports": " 8000 , 8001,9999"}, [8000, 8001], id="spaces-and-others"),
        pytest.param({"inference.networking.k8s.io/active-ports": "8000"}, [8000], id="legacy-name"),
        pytest.param({"llm-d.ai/active-ports": ""}, [], id="none"),
        pytest.param({"llm-d.ai/active-ports": "eight"}, [], id="no-numbers"),
        pytest.param({"llm-d.ai/active-ports": "9" * 5000 + ",8000"}, [8000], id="endless-number"),
        pytest.param({}, [8000, 8001], id="not-said"),
    ],
)
def test_only_active_ports_count_and_keep_their_rank(annotations: dict[str, str], ports: list[int]) -> None:
    found = members(pod(annotations=annotations), [8000, 8001])

    assert [metadata.port for metadata in found] == ports
    assert all(metadata.rank == metadata.port - 8000 for metadata in found)


def test_field_p47_a_cleared_address_ends_the_membership_at_once() -> None:
    pods, endpoints = follower()
    pods.listed([pod("a"), pod("b", ip="10.0.0.2")])

    pods.changed(pod("a", ip=None))

    assert ids(endpoints) == ["default/b-rank-0"]


def test_field_p47_a_pod_that_is_being_deleted_is_no_candidate() -> None:
    pods, endpoints = follower(8000, 8001)
    pods.listed([pod("a")])

    pods.changed(pod("a", deletionTimestamp="2026-01-01T00:00:00Z"))

    assert ids(endpoints) == []


def test_field_p47_a_pod_added_while_its_predecessor_is_deleted_stays() -> None:
    pods, endpoints = follower()
    pods.listed([pod("a", uid="old")])

    pods.changed(pod("a", uid="new"))
    pods.deleted(pod("a", uid="old"))

    assert [endpoint.metadata.uid for endpoint in endpoints.all()] == ["new"]


def test_losing_readiness_and_regaining_it_makes_a_new_instance() -> None:
    pods, endpoints = follower()
    pods.listed([pod("a")])
    before = endpoints.all()[0]

    pods.changed(pod("a", ready=False))
    pods.changed(pod("a"))

    assert endpoints.all()[0] is not before


def test_a_port_that_becomes_inactive_is_removed_alone() -> None:
    pods, endpoints = follower(8000, 8001)
    pods.listed([pod("a")])

    pods.changed(pod("a", annotations={"llm-d.ai/active-ports": "8001"}))

    assert ids(endpoints) == ["default/a-rank-1"]


def test_removal_respects_the_namespace() -> None:
    pods, endpoints = follower()
    other = pod("a", ip="10.0.0.2", namespace="other")
    pods.listed([pod("a"), other])

    pods.deleted(other)

    assert ids(endpoints) == ["default/a-rank-0"]


def test_a_list_is_the_whole_truth() -> None:
    pods, endpoints = follower()
    pods.listed([pod("a"), pod("b", ip="10.0.0.2")])
    kept = endpoints.get("default/b-rank-0")

    pods.listed([pod("b", ip="10.0.0.2"), pod("c", ip="10.0.0.3")])

    assert ids(endpoints) == ["default/b-rank-0", "default/c-rank-0"]
    assert endpoints.get("default/b-rank-0") is kept
    assert pods.synced


def test_deleting_what_was_never_seen_is_nothing() -> None:
    pods, endpoints = follower()

    pods.deleted(pod("x"))

    assert ids(endpoints) == []
