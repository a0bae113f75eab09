import pytest

from router.plugins.scorers.kv_cache_utilization_scorer import TYPE, KvCacheUtilizationScorer, Parameters
from tests.support.engine import candidate, inference_request, make_handle


def test_h12_the_free_share() -> None:
    scorer = KvCacheUtilizationScorer(TYPE, Parameters(), make_handle())

    scores = scorer.score(inference_request(), [candidate(kv_cache_usage=usage) for usage in (0.8, 0.5, 0.0, 1.0)])

    assert list(scores.values()) == pytest.approx([0.2, 0.5, 1, 0], rel=1e-9)
