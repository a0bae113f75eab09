from typing import Any

import pytest

from router.expressions.tokens import ExpressionError
from router.expressions.values import combine, convert, negative, select, truth


@pytest.mark.parametrize(
    ("left", "sign", "right", "expected"),
    [
        (7, "/", 2, 3),
        (-7, "/", 2, -3),
        (7.0, "/", 2, 3.5),
        (-7, "%", 2, -1),
        (7.5, "%", 2, 1.5),
        ("a", "+", "b", "ab"),
        ("a", "<", "b", True),
        (1, "==", 1.0, True),
        (1, "!=", "1", True),
    ],
)
def test_signs(left: Any, sign: str, right: Any, expected: Any) -> None:
    assert combine(sign, left, right) == expected


@pytest.mark.parametrize(
    ("left", "sign", "right"), [(1, "/", 0), (1, "%", 0), (1.0, "%", 0), (1, "+", "a"), (True, "+", 1), ("a", "-", "b"), (None, "<", 1)]
)
def test_what_has_no_value(left: Any, sign: str, right: Any) -> None:
    with pytest.raises(ExpressionError):
        combine(sign, left, right)


def test_conversions() -> None:
    assert convert("int", 2.9) == 2
    assert convert("double", "1.5") == 1.5
    for value in ("x", None, float("inf")):
        with pytest.raises(ExpressionError, match="int cannot read"):
            convert("int", value)


def test_truth_is_only_true_or_false() -> None:
    assert truth(True)
    with pytest.raises(ExpressionError, match="1 is not true or false"):
        truth(1)


def test_only_numbers_can_be_negative() -> None:
    assert negative(2) == -2
    with pytest.raises(ExpressionError, match="True is not a number"):
        negative(True)


def test_fields_of_maps() -> None:
    assert select({"a": 1}, "a") == 1
    for owner in ({}, 5, None):
        with pytest.raises(ExpressionError, match="there is no field a"):
            select(owner, "a")
