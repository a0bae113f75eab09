from random import Random
from typing import Any

import pytest

from simulator.errors import OptionsError
from simulator.faults import Faults


def faults(*documents: dict[str, Any]) -> Faults:
    return Faults(documents, Random(0))


def hits(
    made: Faults, times: int = 5, *, path: str = "/v1/chat/completions", media: bool = False, headers: dict[str, str] | None = None
) -> int:
    return sum(made.for_request(path, headers or {}, has_media=media) is not None for _ in range(times))


BUSY = {"kind": "status", "status": 503}


def test_count_and_after_bound_a_fault() -> None:
    assert [hits(faults({"effect": BUSY, "count": 2, "after": 1}), n) for n in (1, 2, 3, 9)] == [0, 1, 2, 2]


def test_a_rate_hits_some() -> None:
    assert 20 < hits(faults({"effect": BUSY, "rate": 0.5}), 100) < 80


@pytest.mark.parametrize(
    ("match", "hit"),
    [
        ({"path": "/v1/chat/*"}, 1),
        ({"path": "/v1/completions"}, 0),
        ({"has_media": True}, 0),
        ({"has_media": False}, 1),
        ({"header": {"X-Id": "*-enc-1"}}, 1),
        ({"header": {"X-Id": "b"}}, 0),
    ],
)
def test_only_matching_requests_are_hit(match: dict[str, Any], hit: int) -> None:
    assert hits(faults({"match": match, "effect": BUSY}), 1, headers={"x-id": "a-enc-1"}) == hit


def test_injections_are_counted_by_kind() -> None:
    made = faults({"effect": BUSY})
    hits(made, 3)

    assert made.injected == {"status": 3}


def test_standing_faults_hit_no_request() -> None:
    made = faults({"effect": {"kind": "unhealthy"}})

    assert hits(made) == 0
    assert made.standing("unhealthy") == {"kind": "unhealthy"}


def test_one_or_all_can_be_removed() -> None:
    made = faults({"id": "a", "effect": BUSY}, {"effect": BUSY}, {"effect": BUSY})
    made.remove("a")
    assert [f["id"] for f in made.active()] == ["f2", "f3"]
    made.remove()

    assert made.active() == []


@pytest.mark.parametrize(("effect", "factor"), [({"kind": "slow", "factor": 3}, 3.0), ({"kind": "stall"}, None), (BUSY, 1.0)])
def test_slowdown(effect: dict[str, Any], factor: float | None) -> None:
    assert faults({"effect": effect}).slowdown() == factor


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({}, "effect.kind"),
        ({"effect": {"kind": "explode"}}, "'explode' is none of status"),
        ({"effect": BUSY, "often": 1}, "unknown field 'often'"),
    ],
)
def test_a_bad_document_is_refused_by_field(document: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionsError, match=words):
        faults(document)
