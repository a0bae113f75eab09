from typing import Any

import pytest

from router.framework.errors import ConfigError
from router.framework.labels import LabelSelector
from router.framework.parameters import decode

LABELS = {"role": "decode", "tier": "a"}


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ({}, True),
        ({"matchLabels": {"role": "decode"}}, True),
        ({"matchLabels": {"role": "decode", "tier": "b"}}, False),
        ({"matchExpressions": [{"key": "role", "operator": "In", "values": ["decode", "both"]}]}, True),
        ({"matchExpressions": [{"key": "gone", "operator": "In", "values": ["x"]}]}, False),
        ({"matchExpressions": [{"key": "role", "operator": "NotIn", "values": ["decode"]}]}, False),
        ({"matchExpressions": [{"key": "gone", "operator": "NotIn", "values": ["x"]}]}, True),
        ({"matchExpressions": [{"key": "role", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "gone", "operator": "Exists"}]}, False),
        ({"matchExpressions": [{"key": "gone", "operator": "DoesNotExist"}]}, True),
        ({"matchLabels": {"tier": "a"}, "matchExpressions": [{"key": "role", "operator": "DoesNotExist"}]}, False),
    ],
)
def test_every_part_must_hold(selector: dict[str, Any], matches: bool) -> None:
    assert decode(LabelSelector, selector).matches(LABELS) is matches


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        ({"key": "a", "operator": "In"}, "In needs at least one value"),
        ({"key": "a", "operator": "Exists", "values": ["b"]}, "Exists takes no values"),
        ({"key": "", "operator": "Exists"}, "must not be empty"),
        ({"key": "a", "operator": "Gt", "values": ["1"]}, "'Gt' is not one of"),
    ],
)
def test_requirements_that_make_no_sense_are_refused(requirement: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        decode(LabelSelector, {"matchExpressions": [requirement]})
