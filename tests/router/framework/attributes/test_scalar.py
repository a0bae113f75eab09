from typing import Any

import pytest

from router.framework.attributes.key import DataKey
from router.framework.attributes.scalar import ScalarAttribute
from tests.support.engine import candidate


@pytest.mark.parametrize(
    ("producer", "reader", "value"),
    [
        ("core-metrics-extractor", None, 3.0),
        ("other", None, None),
        ("other", "other", 3.0),
        ("other", "", 3.0),
    ],
)
def test_whose_number_is_read(producer: str, reader: str | None, value: float | None) -> None:
    endpoint = candidate()
    endpoint.live.attributes[DataKey("depth", producer, float)] = 3

    assert ScalarAttribute("depth", reader).read(endpoint) == value


@pytest.mark.parametrize("value", ["3", None, [3]])
def test_what_is_no_number_is_missing(value: Any) -> None:
    endpoint = candidate()
    endpoint.live.attributes[DataKey("depth", "core-metrics-extractor", float)] = value

    assert ScalarAttribute("depth", None).read(endpoint) is None


def test_any_producer_requires_none() -> None:
    assert ScalarAttribute("depth", "").required == frozenset()
    assert [key.text for key in ScalarAttribute("depth", None).required] == ["depth/core-metrics-extractor"]
