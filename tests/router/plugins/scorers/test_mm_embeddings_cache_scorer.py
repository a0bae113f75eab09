import pytest

from router.framework.attributes.encoder_match import EncoderMatch, encoder_match
from router.plugins.scorers.mm_embeddings_cache_scorer import TYPE, MmEmbeddingsCacheScorer, Parameters
from tests.support.engine import candidate, inference_request, make_handle


@pytest.mark.parametrize(
    ("size", "matched", "expected"),
    [pytest.param(100, [80, 20, None], [0.8, 0.2, 0.0], id="H29"), pytest.param(3, [2], [2 / 3], id="H30")],
)
def test_the_share_by_size(size: int, matched: list[int | None], expected: list[float]) -> None:
    pool = [candidate(str(index)) for index in range(len(matched))]
    for endpoint, count in zip(pool, matched, strict=True):
        if count is not None:
            endpoint.write(encoder_match(), EncoderMatch(matched_size=count, request_size=size))

    scores = MmEmbeddingsCacheScorer(TYPE, Parameters(), make_handle()).score(inference_request(), pool)

    assert list(scores.values()) == pytest.approx(expected)
