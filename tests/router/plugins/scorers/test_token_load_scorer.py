import pytest

from router.framework.attributes.load import InflightLoad, UncachedTokens, inflight_load, uncached_tokens
from router.framework.endpoint import Endpoint
from router.framework.parameters import decode
from router.plugins.scorers.token_load_scorer import TYPE, Parameters, TokenLoadScorer
from tests.support.engine import candidate, inference_request, make_handle


def loaded(inflight: int, uncached: int = 0) -> Endpoint:
    endpoint = candidate()
    endpoint.live.attributes[inflight_load()] = InflightLoad(tokens=inflight)
    endpoint.write(uncached_tokens(), UncachedTokens(tokens=uncached))
    return endpoint


def scores(endpoints: list[Endpoint], threshold: int = 0) -> list[float]:
    scorer = TokenLoadScorer(TYPE, decode(Parameters, {"queueThresholdTokens": threshold}), make_handle())
    return list(scorer.score(inference_request(), endpoints).values())


@pytest.mark.parametrize(
    ("threshold", "endpoints", "expected"),
    [
        pytest.param(1000, [loaded(0), loaded(500), loaded(1000)], [1, 0.5, 0], id="H01"),
        pytest.param(1000, [loaded(0, 250), loaded(250, 250), loaded(750, 250)], [0.75, 0.5, 0], id="H02"),
        pytest.param(0, [candidate()], [1], id="H03"),
        pytest.param(0, [loaded(0, 900)], [0.9997854232788086], id="H04"),
        pytest.param(0, [loaded(100000, 900)], [0.9759435653686523], id="H05"),
        pytest.param(0, [loaded(2097152)], [0.5], id="H06"),
        pytest.param(0, [loaded(567036, 7200)], [0.8630914688110352], id="H07"),
        pytest.param(0, [loaded(5000000, 1)], [0], id="H08"),
        pytest.param(-1, [loaded(2097152)], [0.5], id="threshold-below-zero-is-the-default"),
    ],
)
def test_scores(threshold: int, endpoints: list[Endpoint], expected: list[float]) -> None:
    assert scores(endpoints, threshold) == pytest.approx(expected, rel=1e-9)


def test_needs_load_and_cost_of_the_named_producer() -> None:
    scorer = TokenLoadScorer(TYPE, decode(Parameters, {"inFlightLoadProducerName": "mine"}), make_handle())

    assert scorer.consumes().required == {inflight_load("mine"), uncached_tokens("mine")}
