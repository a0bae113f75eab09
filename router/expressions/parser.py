"""From the text of an expression to a function of data.

Understood are numbers, texts, `true`, `false`, fields (`usage.prompt_tokens`), `+ - * / %`, comparisons, `&& || !`, `a ? b : c`,
brackets, `has(field)`, `int(x)` and `double(x)`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from router.expressions.tokens import ExpressionError, Kind, Token, tokens
from router.expressions.values import combine, convert, negative, select, truth

Expression = Callable[[Mapping[str, Any]], Any]  # raises ExpressionError where the data give no value

_DEEPEST = 40  # brackets within brackets
_RANKS = (("||",), ("&&",), ("<", "<=", ">", ">=", "==", "!="), ("+", "-"), ("*", "/", "%"))  # what binds less stands first
_CONSTANTS = {"true": True, "false": False}
_FUNCTIONS = ("has", "int", "double")


def parse(text: str) -> Expression:
    """The function that an expression stands for. Raises ExpressionError."""
    reader = _Reader(text)
    expression = reader.choice()
    reader.end()
    return expression


class _Reader:
    """Reads tokens from left to right, one method a kind of expression."""

    def __init__(self, text: str) -> None:
        self._tokens = tokens(text)
        self._next = 0
        self._depth = 0

    def end(self) -> None:
        """Nothing is left."""
        if self._token.kind is not Kind.END:
            raise self._unexpected()

    def choice(self) -> Expression:
        """`a ? b : c`, or only `a`."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ExpressionError("nested too deeply")
        condition = self._ranked(0)
        if self._take("?"):
            chosen = self.choice()
            self._demand(":")
            condition = _choose(condition, chosen, self.choice())
        self._depth -= 1
        return condition

    def _ranked(self, rank: int) -> Expression:
        if rank == len(_RANKS):
            return self._signed()
        left = self._ranked(rank + 1)
        while self._token.kind is Kind.SIGN and self._token.text in _RANKS[rank]:
            sign = self._advance()
            left = _join(sign, left, self._ranked(rank + 1))
        return left

    def _signed(self) -> Expression:
        """Any number of `!` and `-` before a value; two of a kind cancel out."""
        signs: list[str] = []
        while self._token.text in ("!", "-") and self._token.kind is Kind.SIGN:
            signs.append(self._advance())
        value = self._selected()
        for sign in reversed(signs):
            value = _turn(sign, value)
        return value

    def _selected(self) -> Expression:
        value = self._single()
        while self._take("."):
            value = _field(value, self._name())
        return value

    def _single(self) -> Expression:
        token = self._token
        if self._take("("):
            inner = self.choice()
            self._demand(")")
            return inner
        if token.kind is Kind.NUMBER:
            return _constant(int(token.text) if (self._advance()).isdigit() else float(token.text))
        if token.kind is Kind.TEXT:
            return _constant(self._advance()[1:-1])
        name = self._name()
        if self._token.text == "(":
            return self._call(name)
        return _constant(_CONSTANTS[name]) if name in _CONSTANTS else _variable(name)

    def _call(self, function: str) -> Expression:
        if function not in _FUNCTIONS:
            raise ExpressionError(f"there is no function {function}; known: {', '.join(_FUNCTIONS)}")
        self._demand("(")
        argument = self.choice()
        self._demand(")")
        return _has(argument) if function == "has" else lambda data: convert(function, argument(data))

    @property
    def _token(self) -> Token:
        return self._tokens[self._next]

    def _advance(self) -> str:
        self._next += 1
        return self._tokens[self._next - 1].text

    def _take(self, sign: str) -> bool:
        found = self._token.kind is Kind.SIGN and self._token.text == sign
        self._next += found
        return found

    def _demand(self, sign: str) -> None:
        if not self._take(sign):
            raise self._unexpected(f'"{sign}" is expected')

    def _name(self) -> str:
        if self._token.kind is not Kind.NAME:
            raise self._unexpected("a value is expected")
        return self._advance()

    def _unexpected(self, wanted: str = "nothing more is expected") -> ExpressionError:
        return ExpressionError(f"{wanted} at {self._token.position}, not {self._token.text or 'the end'!r}")


def _constant(value: object) -> Expression:
    return lambda data: value


def _variable(name: str) -> Expression:
    return lambda data: select(data, name)


def _field(owner: Expression, name: str) -> Expression:
    return lambda data: select(owner(data), name)


def _choose(condition: Expression, chosen: Expression, other: Expression) -> Expression:
    return lambda data: chosen(data) if truth(condition(data)) else other(data)


def _turn(sign: str, value: Expression) -> Expression:
    return (lambda data: not truth(value(data))) if sign == "!" else (lambda data: negative(value(data)))


def _has(argument: Expression) -> Expression:
    def present(data: Mapping[str, Any]) -> bool:
        try:
            argument(data)
        except ExpressionError:
            return False
        return True

    return present


def _join(sign: str, left: Expression, right: Expression) -> Expression:
    if sign in ("&&", "||"):
        return _either(left, right, decisive=sign == "||")
    return lambda data: combine(sign, left(data), right(data))


def _either(left: Expression, right: Expression, *, decisive: bool) -> Expression:
    """`&&` and `||`: one side that decides is enough, whatever is wrong with the other."""

    def decide(data: Mapping[str, Any]) -> bool:
        try:
            if truth(left(data)) is decisive:
                return decisive
        except ExpressionError:
            if truth(right(data)) is decisive:
                return decisive
            raise
        return truth(right(data))

    return decide
