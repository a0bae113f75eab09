from typing import Any

import pytest

from router.framework.attributes.load import InflightLoad, inflight_load
from router.framework.endpoint import Endpoint
from router.framework.parameters import decode
from router.plugins.scorers.active_request_scorer import TYPE, ActiveRequestScorer, Parameters
from tests.support.engine import candidate, inference_request, make_handle


def busy(requests: int | None) -> Endpoint:
    endpoint = candidate()
    if requests is not None:
        endpoint.live.attributes[inflight_load()] = InflightLoad(requests=requests)
    return endpoint


@pytest.mark.parametrize(
    ("parameters", "requests", "expected"),
    [
        pytest.param({}, [3, 0, 6], [0.5, 1, 0], id="H13"),
        pytest.param({}, [4, None, 1], [0, 1, 0.75], id="H14"),
        pytest.param({}, [3, 11], [8 / 11, 0], id="H15"),
        pytest.param({"idleThreshold": 1, "maxBusyScore": 0.5}, [1, 2, None], [1, 0, 1], id="H16"),
        pytest.param({"maxBusyScore": 0}, [1, 0], [0, 1], id="H17"),
        pytest.param({"requestTimeout": "2m"}, [0, 0], [1, 1], id="deprecated-parameter"),
        pytest.param({"idleThreshold": -1}, [0, 0], [1, 1], id="threshold-below-zero"),
    ],
)
def test_scores(parameters: dict[str, Any], requests: list[int | None], expected: list[float]) -> None:
    scorer = ActiveRequestScorer(TYPE, decode(Parameters, parameters), make_handle())

    scores = scorer.score(inference_request(), [busy(count) for count in requests])

    assert list(scores.values()) == pytest.approx(expected, rel=1e-9)
