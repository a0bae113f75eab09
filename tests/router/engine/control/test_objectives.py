from dataclasses import dataclass

import pytest

from router.engine.control.context import RequestContext
from router.engine.control.objectives import NoPriorities, Objectives
from router.payloads.completions import parse_completions


@dataclass
class Known:
    def priority(self, objective: str) -> int:
        return {"batch": -1, "chat": 5}.get(objective, 0)


def context(headers: dict[str, str] | None = None) -> RequestContext:
    payload = parse_completions(b'{"model":"m","prompt":"x","stream":true,"max_tokens":4}')
    return RequestContext(
        id="7",
        external_id="client's",
        headers=headers or {},
        payload=payload,
        size_bytes=50,
        received_at=3.0,
        subset=None,
        target_model="t",
    )


def test_request_says_what_is_known() -> None:
    made = context()

    request = Objectives(NoPriorities()).build_request(made)

    assert (request.id, request.external_id) == ("7", "client's")
    assert (request.incoming_model, request.target_model) == ("m", "t")
    assert (request.stream, request.max_output_tokens, request.size_bytes, request.received_at) == (True, 4, 50, 3.0)
    assert request.headers is made.headers
    assert made.request is request


@pytest.mark.parametrize(
    ("headers", "priority"),
    [
        ({}, 0),
        ({"x-llm-d-inference-objective": "batch"}, -1),
        ({"x-gateway-inference-objective": "chat"}, 5),
        ({"x-llm-d-inference-objective": "batch", "x-gateway-inference-objective": "chat"}, -1),
        ({"x-llm-d-inference-objective": "unknown"}, 0),
    ],
)
def test_objective_gives_the_priority(headers: dict[str, str], priority: int) -> None:
    assert Objectives(Known()).build_request(context(headers)).priority == priority


def test_without_objectives_everything_has_priority_zero() -> None:
    assert Objectives(NoPriorities()).build_request(context({"x-llm-d-inference-objective": "batch"})).priority == 0


@pytest.mark.parametrize(
    ("headers", "fairness_id"),
    [
        ({}, "default-flow"),
        ({"x-llm-d-inference-fairness-id": ""}, "default-flow"),
        ({"x-gateway-inference-fairness-id": "old"}, "old"),
        ({"x-gateway-inference-fairness-id": "old", "x-llm-d-inference-fairness-id": "new"}, "new"),
    ],
)
def test_fairness_id(headers: dict[str, str], fairness_id: str) -> None:
    assert Objectives(NoPriorities()).build_request(context(headers)).fairness_id == fairness_id
