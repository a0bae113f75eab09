from typing import Any

import pytest

from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.plugins.scorers.load_aware_scorer import TYPE, LoadAwareScorer, Parameters
from tests.support.engine import candidate, inference_request, make_handle


@pytest.mark.parametrize(
    ("parameters", "waiting", "expected"),
    [
        pytest.param({"threshold": 10}, [2, 0, 15], [0.4, 0.5, 0], id="H18"),
        pytest.param({}, [64], [0.25], id="H19"),
    ],
)
def test_scores(parameters: dict[str, Any], waiting: list[int], expected: list[float]) -> None:
    scorer = LoadAwareScorer(TYPE, decode(Parameters, parameters), make_handle())

    scores = scorer.score(inference_request(), [candidate(waiting_requests=count) for count in waiting])

    assert list(scores.values()) == pytest.approx(expected, rel=1e-9)


def test_the_threshold_is_above_zero() -> None:
    with pytest.raises(ConfigError, match="threshold"):
        decode(Parameters, {"threshold": 0})
