from collections import Counter

import pytest

from router.framework.parameters import decode
from router.plugins.pickers.weighted_random_picker import TYPE, Parameters, WeightedRandomPicker
from tests.support.engine import candidates, inference_request, make_handle, names_of


def counts(*scores: float, draws: int = 2000) -> Counter[str]:
    picker = WeightedRandomPicker(TYPE, Parameters(), make_handle())
    weighted = dict(zip(candidates("a", "b", "c"), scores, strict=False))
    return Counter(names_of(picker.pick(inference_request(), weighted))[0] for _ in range(draws))


def test_in_proportion_to_scores() -> None:
    assert counts(0.75, 0.25)["a"] == pytest.approx(1500, abs=80)


def test_tiny_scores_keep_their_proportion() -> None:
    assert counts(3e-9, 1e-9)["a"] == pytest.approx(1500, abs=80)


def test_zero_is_never_picked_before_a_score() -> None:
    assert set(counts(0.0, 0.1, -1.0)) == {"b"}


def test_all_zero_is_uniform() -> None:
    assert counts(0.0, 0.0)["a"] == pytest.approx(1000, abs=100)


def test_several_without_repeating() -> None:
    picker = WeightedRandomPicker(TYPE, decode(Parameters, {"maxNumOfEndpoints": 2}), make_handle())

    assert len(set(picker.pick(inference_request(), dict.fromkeys(candidates("a", "b", "c"), 0.5)))) == 2
