import pytest

from router.plugins.scorers.running_requests_size_scorer import TYPE, Parameters, RunningRequestsSizeScorer
from tests.support.engine import candidate, inference_request, make_handle


@pytest.mark.parametrize(("running", "expected"), [([10, 5, 0], [0, 0.5, 1]), ([5, 5], [1, 1]), ([], [])], ids=str)
def test_scores(running: list[int], expected: list[float]) -> None:
    scorer = RunningRequestsSizeScorer(TYPE, Parameters(), make_handle())

    scores = scorer.score(inference_request(), [candidate(running_requests=count) for count in running])

    assert list(scores.values()) == expected
