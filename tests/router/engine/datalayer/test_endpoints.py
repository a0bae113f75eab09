from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.engine.datalayer.endpoints import Endpoints
from router.framework.control import EndpointListener
from router.framework.endpoint import EndpointMetadata, LiveEndpoint


class Listener(EndpointListener):
    """Keeps what it hears, and what requests could see at that moment."""

    def __init__(self) -> None:
        super().__init__("listener")
        self.heard: list[tuple[str, str]] = []
        self.alive: set[LiveEndpoint] = set()
        self.endpoints: Endpoints | None = None
        self.visible: list[int] = []

    def endpoint_added(self, endpoint: LiveEndpoint) -> None:
        self.heard.append(("added", endpoint.metadata.id))
        self.alive.add(endpoint)
        self.visible.append(len(self.endpoints.all()) if self.endpoints else -1)

    def endpoint_removed(self, endpoint: LiveEndpoint) -> None:
        self.heard.append(("removed", endpoint.metadata.id))
        self.alive.remove(endpoint)
        self.visible.append(len(self.endpoints.all()) if self.endpoints else -1)


def metadata(name: str = "a", **changes: Any) -> EndpointMetadata:
    return replace(EndpointMetadata(id=f"d/{name}", name=name, namespace="d", address="10.0.0.1", port=8000, uid="1"), **changes)


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
def endpoints(listener: Listener) -> Endpoints:
    made = Endpoints([listener])
    listener.endpoints = made
    return made


def test_a_new_endpoint_is_a_member(endpoints: Endpoints, listener: Listener) -> None:
    added = endpoints.upsert(metadata())

    assert endpoints.all() == (added,)
    assert listener.heard == [("added", "d/a")]


def test_equal_metadata_changes_nothing(endpoints: Endpoints, listener: Listener) -> None:
    first = endpoints.upsert(metadata())
    before = endpoints.all()

    assert endpoints.upsert(metadata()) is first
    assert endpoints.all() is before
    assert len(listener.heard) == 1


@pytest.mark.parametrize("change", [{"uid": "2"}, {"address": "10.0.0.2"}, {"port": 8001}], ids=["uid", "address", "port"])
def test_p34_a_pod_made_anew_is_another_instance(endpoints: Endpoints, listener: Listener, change: dict[str, Any]) -> None:
    old = endpoints.upsert(metadata())

    new = endpoints.upsert(metadata(**change))

    assert new is not old
    assert endpoints.all() == (new,)
    assert listener.heard == [("added", "d/a"), ("removed", "d/a"), ("added", "d/a")]


def test_other_labels_keep_the_instance(endpoints: Endpoints, listener: Listener) -> None:
    old = endpoints.upsert(metadata())

    same = endpoints.upsert(metadata(labels={"role": "decode"}))

    assert same is old
    assert old.metadata.labels == {"role": "decode"}
    assert len(listener.heard) == 1


def test_listeners_hear_of_a_change_before_requests_see_it(endpoints: Endpoints, listener: Listener) -> None:
    endpoints.upsert(metadata())
    endpoints.remove("d/a")

    assert listener.visible == [0, 1]


def test_removing_what_is_not_there_is_nothing(endpoints: Endpoints, listener: Listener) -> None:
    endpoints.remove("d/x")

    assert listener.heard == []


def test_the_whole_set_can_be_replaced(endpoints: Endpoints, listener: Listener) -> None:
    kept = endpoints.upsert(metadata("a"))
    endpoints.upsert(metadata("b"))

    endpoints.replace_all([metadata("c"), metadata("a")])

    assert [e.metadata.name for e in endpoints.all()] == ["a", "c"]
    assert endpoints.get("d/a") is kept
    assert listener.heard[2:] == [("removed", "d/b"), ("added", "d/c")]


def test_clearing_removes_all(endpoints: Endpoints, listener: Listener) -> None:
    endpoints.upsert(metadata("a"))

    endpoints.clear()

    assert endpoints.all() == ()
    assert listener.alive == set()


class Failing(EndpointListener):
    """A listener with a fault."""

    def endpoint_added(self, endpoint: LiveEndpoint) -> None:
        raise RuntimeError("bug")

    def endpoint_removed(self, endpoint: LiveEndpoint) -> None:
        raise RuntimeError("bug")


def test_a_listener_that_fails_keeps_nobody_from_knowing(listener: Listener, caplog: pytest.LogCaptureFixture) -> None:
    endpoints = Endpoints([Failing("failing"), listener])

    endpoints.upsert(metadata())
    endpoints.remove("d/a")

    assert listener.heard == [("added", "d/a"), ("removed", "d/a")]
    assert caplog.messages == ["endpoint listener failed"] * 2


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("upsert"), st.sampled_from("abc"), st.sampled_from("12")),
        st.tuples(st.just("remove"), st.sampled_from("abc"), st.just("")),
    )
)


@given(STEPS)
def test_listeners_know_exactly_the_members(steps: list[tuple[str, str, str]]) -> None:
    listener = Listener()
    endpoints = Endpoints([listener])

    for step, name, uid in steps:
        if step == "upsert":
            endpoints.upsert(metadata(name, uid=uid))
        else:
            endpoints.remove(f"d/{name}")
        assert set(endpoints.all()) == listener.alive
