from collections import Counter

from router.framework.compat import Compat
from router.framework.endpoint import Endpoint, LiveEndpoint
from router.framework.parameters import decode
from router.plugins.pickers.max_score_picker import TYPE, MaxScorePicker, Parameters
from tests.support.engine import REFERENCE, inference_request, live_endpoint, make_handle, names_of


def picker(*pool: LiveEndpoint, most: int = 1, compat: Compat | None = None) -> MaxScorePicker:
    made = MaxScorePicker(TYPE, decode(Parameters, {"maxNumOfEndpoints": most}), make_handle(compat=compat))
    for live in pool:
        made.endpoint_added(live)
    return made


def pick(chooser: MaxScorePicker, scores: dict[LiveEndpoint, float]) -> list[str]:
    return names_of(chooser.pick(inference_request(), {Endpoint(live): score for live, score in scores.items()}))


A, B, C = (live_endpoint(name) for name in "abc")


def test_the_highest_score_wins() -> None:
    assert pick(picker(A, B, C), {A: 0.1, B: 0.9, C: 0.5}) == ["b"]


def test_several_are_ordered() -> None:
    assert pick(picker(A, B, C, most=2), {A: 0.1, B: 0.9, C: 0.5}) == ["b", "c"]


def test_a_number_below_one_counts_as_one() -> None:
    assert pick(picker(A, B, C, most=-3), {A: 0.1, B: 0.9, C: 0.5}) == ["b"]


def test_more_than_there_are() -> None:
    assert pick(picker(A, B, most=9), {A: 0.1, B: 0.9}) == ["b", "a"]


def test_ties_go_to_the_one_picked_longest_ago() -> None:
    chooser = picker(A, B, C)

    assert [pick(chooser, {A: 1, B: 1, C: 1})[0] for _ in range(5)] == ["a", "b", "c", "a", "b"]


def test_a_better_score_breaks_the_turn_and_counts_as_one() -> None:
    chooser = picker(A, B, C)
    pick(chooser, {A: 0, B: 1, C: 0})

    assert [pick(chooser, {A: 1, B: 1, C: 1})[0] for _ in range(3)] == ["a", "c", "b"]


def test_a_new_endpoint_comes_first_and_an_old_one_is_forgotten() -> None:
    chooser = picker(A, B)
    for _ in range(2):
        pick(chooser, {A: 1, B: 1})
    chooser.endpoint_removed(A)
    chooser.endpoint_added(C)

    assert pick(chooser, {B: 1, C: 1}) == ["c"]


def test_an_endpoint_that_left_is_not_remembered() -> None:
    chooser = picker(A)
    chooser.endpoint_removed(A)

    assert [pick(chooser, {A: 1})[0] for _ in range(2)] == ["a", "a"]


def test_field_p32_cold_groups_spread_evenly() -> None:
    pool = [live_endpoint(f"p{index}") for index in range(8)]
    chooser = picker(*pool)

    counts = Counter(pick(chooser, dict.fromkeys(pool, 0.5))[0] for _ in range(80))

    assert set(counts.values()) == {10}


def test_the_reference_draws_lots() -> None:
    chooser = picker(A, B, compat=REFERENCE)

    counts = Counter(pick(chooser, {A: 1, B: 1, C: 0})[0] for _ in range(1000))

    assert set(counts) == {"a", "b"}
    assert 400 < counts["a"] < 600
