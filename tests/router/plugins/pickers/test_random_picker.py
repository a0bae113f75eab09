from collections import Counter

import pytest

from router.framework.parameters import decode
from router.plugins.pickers.random_picker import TYPE, Parameters, RandomPicker
from tests.support.engine import candidates, inference_request, make_handle, names_of


@pytest.mark.parametrize(("most", "chosen"), [(0, 1), (1, 1), (2, 2), (9, 3)])
def test_so_many(most: int, chosen: int) -> None:
    picker = RandomPicker(TYPE, decode(Parameters, {"maxNumOfEndpoints": most}), make_handle())

    assert len(set(picker.pick(inference_request(), dict.fromkeys(candidates("a", "b", "c"), 0.0)))) == chosen


def test_scores_do_not_count() -> None:
    picker = RandomPicker(TYPE, Parameters(), make_handle())
    one, other = candidates("a", "b")

    counts = Counter(names_of(picker.pick(inference_request(), {one: 1.0, other: 0.0}))[0] for _ in range(1000))

    assert 400 < counts["a"] < 600
