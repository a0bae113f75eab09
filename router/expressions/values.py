"""What the signs of an expression do with values: numbers, texts, truth values and maps."""

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, cast

from router.expressions.tokens import ExpressionError

Operation = Callable[[Any, Any], Any]


def is_number(value: object) -> bool:
    """Whether a value can be counted with; a truth value cannot."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def truth(value: object) -> bool:
    """A truth value as it is. Raises ExpressionError for anything else."""
    if not isinstance(value, bool):
        raise ExpressionError(f"{value!r} is not true or false")
    return value


def negative(value: Any) -> Any:
    """The number below zero."""
    if not is_number(value):
        raise ExpressionError(f"{value!r} is not a number")
    return -value


def select(value: object, name: str) -> Any:
    """A field of a map. Raises ExpressionError when it is not there."""
    fields = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
    if name not in fields:
        raise ExpressionError(f"there is no field {name}")
    return fields[name]


def combine(sign: str, left: Any, right: Any) -> Any:
    """The value of `left sign right`. Raises ExpressionError where it has none."""
    if sign in _EQUALITY:
        return _EQUALITY[sign](left, right)
    texts = isinstance(left, str) and isinstance(right, str)
    if not (is_number(left) and is_number(right)) and not (texts and sign in _FOR_TEXTS):
        raise ExpressionError(f"{sign} cannot join {left!r} and {right!r}")
    try:
        return _OPERATIONS[sign](left, right)
    except (ZeroDivisionError, OverflowError, ValueError) as error:
        raise ExpressionError(f"{left} {sign} {right} has no value") from error


def convert(function: str, value: Any) -> int | float:
    """`int(value)` or `double(value)`. Raises ExpressionError for what is no number."""
    try:
        return int(value) if function == "int" else float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ExpressionError(f"{function} cannot read {value!r}") from error


def _divide(left: float, right: float) -> float:
    """Whole numbers are cut towards zero."""
    if isinstance(left, int) and isinstance(right, int):
        quotient = abs(left) // abs(right)
        return quotient if (left < 0) == (right < 0) else -quotient
    return left / right


def _remainder(left: float, right: float) -> float:
    """With the sign of what is divided."""
    if isinstance(left, int) and isinstance(right, int):
        return left - right * int(_divide(left, right))
    return math.fmod(left, right)


_EQUALITY: Mapping[str, Operation] = {"==": operator.eq, "!=": operator.ne}
_OPERATIONS: Mapping[str, Operation] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "%": _remainder,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_FOR_TEXTS = frozenset({"+", "<", "<=", ">", ">="})
