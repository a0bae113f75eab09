from typing import Any

import pytest

from router.framework.attributes.session import session_id
from router.framework.endpoint import Endpoint
from router.framework.parameters import decode
from router.sessions.affinity import MAX_SESSIONS, Affinity, RememberedAffinity, affinity, decode_token, encode_token
from router.sessions.parameters import AffinityParameters
from tests.support.engine import FakeClock, candidate, candidates, inference_request, result_of


def make(clock: FakeClock | None = None, **parameters: Any) -> Affinity:
    return affinity(decode(AffinityParameters, parameters), "plugin", clock or FakeClock())


def test_O01_a_token_is_the_base64_of_the_endpoints_id() -> None:
    assert encode_token("default/pod-a-rank-0") == "ZGVmYXVsdC9wb2QtYS1yYW5rLTA="
    assert decode_token("ZGVmYXVsdC9wb2QtYS1yYW5rLTA=") == "default/pod-a-rank-0"


@pytest.mark.parametrize("token", ["", "%%%", "abc", "gICA", "Zm9v\n"])
def test_what_is_no_token_names_nobody(token: str) -> None:
    assert decode_token(token) == ""
    assert make().bound(inference_request(headers={"x-session-token": token}), candidates("a")) is None


def test_the_header_names_a_candidate() -> None:
    pool = candidates("a", "b")
    request = inference_request(headers={"x-mine": encode_token("default/b-rank-0")})

    assert make(encodedEndpointHeaderConfig={"header": "X-Mine"}).bound(request, pool) is pool[1]


def test_the_response_carries_the_target_of_the_profile() -> None:
    first, second = candidates("a", "b")

    assert make().answer(result_of(prefill=first, decode=second)) == {"x-session-token": encode_token("default/b-rank-0")}
    assert make(profileName="prefill").answer(result_of(prefill=first, decode=second)) == {
        "x-session-token": encode_token("default/a-rank-0")
    }
    assert make(profileName="encode").answer(result_of(prefill=first, decode=second)) == {}


class Sessions:
    """Requests of sessions that the engine remembers."""

    def __init__(self, **config: Any) -> None:
        self.clock = FakeClock()
        self.affinity = make(self.clock, strategy="session_id", sessionIdConfig=config)

    def send(self, session: str, pool: list[Endpoint], chosen: Endpoint) -> Endpoint | None:
        """The endpoint the session is bound to, before it goes to `chosen`."""
        request = inference_request(headers={"x-session-id": session} if session else {})
        bound = self.affinity.bound(request, pool)
        self.affinity.settle(request, result_of(default=chosen))
        return bound


def test_a_session_is_bound_to_where_it_went_first() -> None:
    sessions, (a, b) = Sessions(), candidates("a", "b")

    assert sessions.send("s", [a, b], a) is None
    assert sessions.send("s", [a, b], b) is a
    assert sessions.send("s", [a, b], b) is a
    assert sessions.send("other", [a, b], b) is None


def test_a_session_whose_endpoint_is_no_candidate_is_bound_anew() -> None:
    sessions, (a, b) = Sessions(), candidates("a", "b")
    sessions.send("s", [a, b], a)

    assert sessions.send("s", [b], b) is None
    assert sessions.send("s", [a, b], a) is b


def test_requests_without_session_are_not_bound() -> None:
    sessions, (a,) = Sessions(), candidates("a")

    assert sessions.send("", [a], a) is None
    assert sessions.send("", [a], a) is None


def test_a_binding_lasts_as_long_as_it_is_used() -> None:
    sessions, (a,) = Sessions(evictionTtlSeconds=100), candidates("a")
    sessions.send("s", [a], a)
    sessions.clock.now += 90
    assert sessions.send("s", [a], a) is a
    sessions.clock.now += 90
    assert sessions.send("s", [a], a) is a

    sessions.clock.now += 101

    assert sessions.send("s", [a], a) is None


def test_unused_bindings_are_swept_out() -> None:
    sessions, (a,) = Sessions(evictionTtlSeconds=100, evictionSweepSeconds=10), candidates("a")
    for number in range(5):
        sessions.send(f"s{number}", [a], a)
    sessions.clock.now += 101

    sessions.send("new", [a], a)

    assert isinstance(sessions.affinity, RememberedAffinity)
    assert len(sessions.affinity) == 1


def test_the_number_of_sessions_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("router.sessions.affinity.MAX_SESSIONS", 3)
    sessions, (a,) = Sessions(), candidates("a")
    for number in range(5):
        sessions.send(f"s{number}", [a], a)

    assert isinstance(sessions.affinity, RememberedAffinity)
    assert len(sessions.affinity) == 3
    assert MAX_SESSIONS == 100_000


def test_the_first_source_with_a_value_is_the_session() -> None:
    sources = [{"header": "x-first"}, {"attribute": "SessionID", "producer": "session-id-producer"}]
    kept, pool = make(strategy="session_id", sessionIdConfig={"sources": sources}), [candidate("a")]
    request = inference_request()
    request.write(session_id(), "s")
    kept.settle(request, result_of(default=pool[0]))

    assert [key.text for key in kept.consumes()] == ["SessionID/session-id-producer"]
    assert kept.bound(request, pool) is pool[0]
    assert kept.bound(inference_request(headers={"x-first": "s"}), pool) is pool[0]
