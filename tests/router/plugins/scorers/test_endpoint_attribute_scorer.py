from typing import Any

import pytest

from router.framework.attributes.key import DataKey
from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.plugins.scorers.endpoint_attribute_scorer import TYPE, EndpointAttributeScorer, Parameters
from tests.support.engine import candidate, inference_request, make_handle

DEPTH = DataKey("depth", "core-metrics-extractor", float)
LOWER, HIGHER = "linear_lower_is_better", "linear_higher_is_better"


def scores(values: list[float | None], direction: str, **normalization: Any) -> list[float]:
    algorithm = {"type": direction, "normalization": normalization}
    plugin = EndpointAttributeScorer(TYPE, decode(Parameters, {"attributeKey": "depth", "algorithm": algorithm}), make_handle())
    pool = [candidate(str(index)) for index in range(len(values))]
    for endpoint, number in zip(pool, values, strict=True):
        if number is not None:
            endpoint.live.attributes[DEPTH] = number
    return list(plugin.score(inference_request(), pool).values())


@pytest.mark.parametrize(
    ("values", "direction", "normalization", "expected"),
    [
        ([0, 5, 20], LOWER, {}, [1, 0.75, 0]),
        ([0, 5, 20], HIGHER, {"adaptiveRange": {}}, [0, 0.25, 1]),
        ([7, 7, None], LOWER, {}, [1, 1, 0]),
        ([-1, 0.25, 2], HIGHER, {"fixedRange": {"min": 0, "max": 1}}, [0, 0.25, 1]),
        ([0.25, None], LOWER, {"fixedRange": {"min": 0, "max": 1}}, [0.75, 0]),
        ([1, 2, float("inf"), float("nan")], HIGHER, {}, [0, 1, 1, 0]),
        ([], HIGHER, {}, []),
    ],
)
def test_the_place_in_the_range(values: list[float | None], direction: str, normalization: dict[str, Any], expected: list[float]) -> None:
    assert scores(values, direction, **normalization) == expected


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"algorithm": {"type": LOWER}}, "required"),
        ({"attributeKey": "", "algorithm": {"type": LOWER}}, "must not be empty"),
        ({"attributeKey": "a", "algorithm": {"type": "square"}}, "'square' is not one of"),
        ({"attributeKey": "a", "algorithm": {"type": LOWER, "normalization": {"fixedRange": {"min": 1, "max": 1}}}}, "not below max"),
        (
            {"attributeKey": "a", "algorithm": {"type": LOWER, "normalization": {"fixedRange": {"min": 0, "max": 1}, "adaptiveRange": {}}}},
            "exclude each other",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        decode(Parameters, parameters)
