from typing import Any

import pytest

from router.framework.attributes.key import DataKey
from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.plugins.filters.endpoint_attribute_filter import TYPE, EndpointAttributeFilter, Parameters
from tests.support.engine import candidate, inference_request, make_handle, names_of

DEPTH = DataKey("depth", "core-metrics-extractor", float)


def kept(values: list[float | None], operator: str, value: float, **parameters: Any) -> list[str]:
    threshold = {"type": "threshold", "threshold": {"operator": operator, "value": value}}
    plugin = EndpointAttributeFilter(TYPE, decode(Parameters, {"attribute": "depth", "algorithm": threshold, **parameters}), make_handle())
    pool = [candidate(str(index)) for index in range(len(values))]
    for endpoint, number in zip(pool, values, strict=True):
        if number is not None:
            endpoint.live.attributes[DEPTH] = number
    return names_of(plugin.filter(inference_request(), pool))


@pytest.mark.parametrize(
    ("operator", "names"),
    [
        ("LessThan", "0"),
        ("LessThanOrEqual", "01"),
        ("GreaterThan", "2"),
        ("GreaterThanOrEqual", "12"),
        ("Equal", "1"),
        ("NotEqual", "02"),
    ],
)
def test_comparisons(operator: str, names: str) -> None:
    assert kept([1, 2, 3], operator, 2) == list(names)


@pytest.mark.parametrize(
    ("values", "parameters", "names"),
    [
        ([None, 5], {}, "0"),
        ([None, 5], {"onMissing": "Fail"}, ""),
        ([None, 5], {"onMissing": "Fail", "fallbackOnEmpty": True}, "01"),
        ([1, 5], {"fallbackOnEmpty": True}, "0"),
    ],
)
def test_missing_numbers_and_empty_results(values: list[float | None], parameters: dict[str, Any], names: str) -> None:
    assert kept(values, "LessThan", 2, **parameters) == list(names)


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({}, "attribute"),
        ({"attribute": "a"}, "algorithm"),
        ({"attribute": "", "algorithm": {"type": "threshold", "threshold": {"operator": "Equal", "value": 1}}}, "attribute"),
        (
            {"attribute": "a", "algorithm": {"type": "threshold", "threshold": {"operator": "==", "value": 1}}},
            "algorithm.threshold.operator",
        ),
    ],
)
def test_what_is_needed_is_asked_for(parameters: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigError) as raised:
        decode(Parameters, parameters)

    assert raised.value.field == field
