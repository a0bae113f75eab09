import pytest

from router import wire
from router.engine.extproc.headers import request_mutation, response_mutation, split_client_headers, stored


def test_last_value_of_a_repeated_header_counts() -> None:
    assert stored([("a", "1"), ("b", "2"), ("a", "3")]) == {"a": "3", "b": "2"}


@pytest.mark.parametrize("name", wire.ROUTING_HEADERS)
def test_I28_routing_header_of_a_client_is_not_read_and_removed(name: str) -> None:
    headers, removable = split_client_headers([(":path", "/"), (name, "1.2.3.4:1")])

    assert headers == {":path": "/"}
    assert removable == (name,)


@pytest.mark.parametrize("name", sorted(wire.SYSTEM_OWNED - {wire.CONTENT_LENGTH}))
def test_control_header_is_read_and_removed(name: str) -> None:
    headers, removable = split_client_headers([(name, "x")])

    assert headers == {name: "x"}
    assert removable == (name,)


def test_only_changed_headers_are_set() -> None:
    arrived = {"a": "1", "b": "2"}

    changed, removed = request_mutation(arrived, {"a": "1", "b": "3", "c": "4"}, removable=(), destination="h:1", body_bytes=5)

    assert changed == (("b", "3"), ("c", "4"), (wire.DESTINATION, "h:1"), ("content-length", "5"))
    assert removed == ()


def test_content_length_of_nothing_is_not_set() -> None:
    changed, _ = request_mutation({}, {}, removable=(), destination="h:1", body_bytes=0)

    assert changed == ((wire.DESTINATION, "h:1"),)


def test_header_that_is_set_is_not_removed() -> None:
    wanted = {wire.PREFILLER: "10.0.0.1:8000"}

    changed, removed = request_mutation(
        {}, wanted, removable=(wire.PREFILLER, wire.ENCODERS, wire.DESTINATION), destination="h:1", body_bytes=0
    )

    assert changed == ((wire.PREFILLER, "10.0.0.1:8000"), (wire.DESTINATION, "h:1"))
    assert removed == (wire.ENCODERS,)


def test_control_headers_are_never_set() -> None:
    changed, _ = request_mutation({}, {wire.FAIRNESS_ID[0]: "x", wire.VIDEO_FPS: "1"}, removable=(), destination="h:1", body_bytes=0)

    assert changed == ((wire.DESTINATION, "h:1"),)


def test_response_carries_the_mark_and_what_plugins_added() -> None:
    added = {"x-session-token": "t", wire.DROPPED_REASON: "x"}

    assert response_mutation(added) == (("x-went-into-resp-headers", "true"), ("x-session-token", "t"))
