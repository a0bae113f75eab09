from collections.abc import Mapping

import pytest

from router.disaggregation.stages import StagePlan
from router.framework.attributes.peer_endpoint import peer_endpoint
from router.framework.endpoint import Endpoint
from router.framework.errors import ErrorCode, RequestError
from router.framework.request import InferenceRequest
from router.framework.scheduling import Decider, ProfileResult
from tests.support.engine import candidate, inference_request

ALL = ("encode", "prefill", "decode")


class Answers(Decider):
    """Always the same answer; remembers what it was asked about."""

    def __init__(self, answer: bool) -> None:
        super().__init__("answers")
        self.answer = answer
        self.asked: list[Endpoint | None] = []

    def decide(self, request: InferenceRequest, endpoint: Endpoint | None) -> bool:
        self.asked.append(endpoint)
        return self.answer


def found(name: str = "d") -> ProfileResult:
    return ProfileResult(targets=(candidate(name),))


def play(
    plan: StagePlan, profiles: tuple[str, ...] = ALL, outcome: Mapping[str, ProfileResult | None] | None = None
) -> dict[str, ProfileResult | None]:
    """Run stages until there is none; a profile finds an endpoint unless `outcome` says otherwise."""
    request, results = inference_request(), dict[str, ProfileResult | None]()
    while names := [name for name in plan.next(request, profiles, results) if name in profiles and name not in results]:
        for name in names:
            results[name] = outcome[name] if outcome and name in outcome else found(name)
    return results


def plan(*, prefill: bool | None = None, encode: bool | None = None, prefill_first: bool = False) -> StagePlan:
    return StagePlan(
        prefill_decider=None if prefill is None else Answers(prefill),
        encode_decider=None if encode is None else Answers(encode),
        prefill_first=prefill_first,
    )


@pytest.mark.parametrize(
    ("prefill", "encode", "order"),
    [
        (None, None, ["decode"]),
        (False, False, ["decode"]),
        (True, None, ["decode", "prefill"]),
        (True, False, ["decode", "prefill"]),
        (False, True, ["decode", "encode"]),
        (True, True, ["decode", "encode", "prefill"]),
    ],
)
def test_decode_first(prefill: bool | None, encode: bool | None, order: list[str]) -> None:
    assert list(play(plan(prefill=prefill, encode=encode))) == order


@pytest.mark.parametrize(
    ("encode", "order"), [(None, ["prefill", "decode"]), (False, ["prefill", "decode"]), (True, ["prefill", "encode", "decode"])]
)
def test_prefill_first(encode: bool | None, order: list[str]) -> None:
    assert list(play(plan(encode=encode, prefill_first=True))) == order


@pytest.mark.parametrize("first", [True, False])
def test_stages_without_profile_are_skipped(first: bool) -> None:
    assert list(play(plan(encode=True, prefill=None if first else True, prefill_first=first), profiles=("decode",))) == ["decode"]


def test_a_failed_decode_stage_ends_the_request() -> None:
    results = play(plan(prefill=True, encode=True), outcome={"decode": None})

    assert list(results) == ["decode"]
    with pytest.raises(RequestError) as raised:
        StagePlan().settle(results)
    assert raised.value.code is ErrorCode.ResourceExhausted


def test_a_failed_optional_stage_is_left_out() -> None:
    stages = plan(prefill=True, encode=True)
    results = play(stages, outcome={"encode": None})

    assert list(results) == ["decode", "encode", "prefill"]
    assert list(stages.settle(results).profiles) == ["decode", "prefill"]
    assert stages.failed(results) == ["encode"]


def test_deciders_see_the_decode_endpoint_once_each() -> None:
    encode, prefill = Answers(False), Answers(True)
    results = play(StagePlan(encode_decider=encode, prefill_decider=prefill))

    decoding = results["decode"]
    assert decoding is not None
    assert encode.asked == prefill.asked == [decoding.targets[0]]


def test_the_encode_decider_sees_no_endpoint_before_decode() -> None:
    encode = Answers(True)

    play(StagePlan(encode_decider=encode, prefill_first=True))

    assert encode.asked == [None]


def test_the_decode_endpoint_is_published_for_later_stages() -> None:
    request, decoding = inference_request(), found()

    plan(prefill=True).next(request, ALL, {"decode": decoding})

    assert request.read(peer_endpoint()) is decoding.targets[0]


@pytest.mark.parametrize(
    ("stages", "name"),
    [
        ((), "decode-only"),
        (("encode",), "encode-decode"),
        (("prefill",), "prefill-decode"),
        (("encode", "prefill"), "encode-prefill-decode"),
    ],
)
def test_decisions_are_named_by_their_stages(stages: tuple[str, ...], name: str) -> None:
    results = {"decode": found(), **{stage: found() for stage in stages}}

    assert StagePlan().decision(StagePlan().settle(results)) == name
