from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.expressions.parser import parse
from router.expressions.tokens import ExpressionError

DATA = {"usage": {"prompt_tokens": 100, "completion_tokens": 20, "details": {"cached_tokens": 64}}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("usage.prompt_tokens + usage.completion_tokens", 120),
        ("(has(usage.prompt_tokens) ? usage.prompt_tokens : 0) + (has(usage.gone) ? usage.gone : 0)", 100),
        ("1 + 2 * 3 - 4 / 2", 5),
        ("(1 + 2) * 3", 9),
        ("10 - 2 - 3", 5),
        ("-2 * -3", 6),
        ("--2", 2),
        ("7 % 4", 3),
        ("usage.details.cached_tokens * 0.5", 32.0),
        ("int(usage.prompt_tokens * 1.5)", 150),
        ("double(3) / 2", 1.5),
        ("has(usage.prompt_tokens) && usage.prompt_tokens > 99", True),
        ("!has(usage.gone) || usage.gone > 1", True),
        ("usage.gone > 1 || true", True),
        ("usage.gone > 1 && false", False),
        ("1 < 2 == true", True),
        ("false ? 1 : true ? 2 : 3", 2),
        ("'a' + \"b\" == 'ab'", True),
    ],
)
def test_values(text: str, value: Any) -> None:
    found = parse(text)(DATA)

    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", ["usage.gone", "gone", "usage.gone && true", "1 ? 2 : 3", "usage.prompt_tokens.deeper", "1 / 0", "!1"])
def test_expressions_without_value(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse(text)(DATA)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a value is expected at 0, not 'the end'"),
        ("1 +", "a value is expected"),
        ("(1", '"\\)" is expected'),
        ("1 2", "nothing more is expected at 2, not '2'"),
        ("a ? b", '":" is expected'),
        ("size(a)", "there is no function size; known: has, int, double"),
        ("(" * 100 + "1" + ")" * 100, "nested too deeply"),
    ],
)
def test_what_is_no_expression(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        parse(text)


@given(st.text(alphabet="ab1.+-*/%()<>=!&|?: '\"", max_size=30))
def test_any_text_is_an_expression_or_refused(text: str) -> None:
    try:
        expression = parse(text)
    except ExpressionError:
        return
    with suppress(ExpressionError):
        expression({"a": 1, "b": {"a": 2.5}})
