import pytest

from router.plugins.scorers.queue_scorer import TYPE, Parameters, QueueScorer
from tests.support.engine import candidate, inference_request, make_handle


@pytest.mark.parametrize(
    ("waiting", "expected"),
    [
        pytest.param([10, 5, 0], [0, 0.5, 1], id="H10"),
        pytest.param([5, 5], [1, 1], id="H11"),
        pytest.param([7], [1], id="one"),
        pytest.param([], [], id="none"),
    ],
)
def test_scores(waiting: list[int], expected: list[float]) -> None:
    scorer = QueueScorer(TYPE, Parameters(), make_handle())

    scores = scorer.score(inference_request(), [candidate(waiting_requests=count) for count in waiting])

    assert list(scores.values()) == expected
