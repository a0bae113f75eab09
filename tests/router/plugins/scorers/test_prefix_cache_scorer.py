from typing import Any

import pytest

from router.framework.attributes.prefix_match import PrefixMatch, prefix_match
from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.plugins.scorers.prefix_cache_scorer import TYPE, Parameters, PrefixCacheScorer
from tests.support.engine import candidate, inference_request, make_handle


@pytest.mark.parametrize(
    ("parameters", "block", "matches", "expected"),
    [
        pytest.param({}, 1, [(5, 10), (2, 10)], [0.5, 0.2], id="H20"),
        pytest.param({"matchLengthWeight": 0.5, "matchLengthScaleTokens": 100}, 1, [(5, 10)], [0.25125], id="H21"),
        pytest.param({"matchLengthWeight": 0.5, "matchLengthScaleTokens": 100}, 1, [(50, 100)], [0.375], id="H22"),
        pytest.param({"matchLengthWeight": 0.3}, 64, [(100, 200)], [0.53310546875], id="H23"),
        pytest.param({}, 64, [(0, 0)], [0], id="empty-prompt"),
        pytest.param({"matchLengthWeight": 1.0}, 64, [(1000, 1000)], [1], id="longer-than-the-scale"),
    ],
)
def test_scores(parameters: dict[str, Any], block: int, matches: list[tuple[int, int]], expected: list[float]) -> None:
    scorer = PrefixCacheScorer(TYPE, decode(Parameters, parameters), make_handle())
    endpoints = [candidate() for _ in matches]
    for endpoint, (matched, total) in zip(endpoints, matches, strict=True):
        endpoint.write(prefix_match(), PrefixMatch(matched_blocks=matched, total_blocks=total, block_size_tokens=block))

    scores = scorer.score(inference_request(), endpoints)

    assert list(scores.values()) == pytest.approx(expected, rel=1e-9)


def test_an_unknown_match_scores_nothing_and_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    scorer = PrefixCacheScorer(TYPE, Parameters(), make_handle())
    caplog.set_level("DEBUG")

    scores = scorer.score(inference_request(), [candidate("a"), candidate("b")])

    assert list(scores.values()) == [0, 0]
    assert len(caplog.records) == 1


@pytest.mark.parametrize("parameters", [{"matchLengthWeight": 1.1}, {"matchLengthWeight": -1}, {"matchLengthScaleTokens": 0}], ids=str)
def test_parameters_are_checked(parameters: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="matchLength"):
        decode(Parameters, parameters)
