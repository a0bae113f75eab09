"""Cuts the text of an expression into tokens."""

import re
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What a token is."""

    NUMBER = "number"
    TEXT = "text"
    NAME = "name"
    SIGN = "sign"
    END = "end"


class ExpressionError(Exception):
    """A text that is no expression, or an expression that has no value for the data at hand."""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text and where it begins."""

    kind: Kind
    text: str
    position: int


_PATTERN = re.compile(
    r"""(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
      | (?P<text>"[^"\\]*"|'[^'\\]*')
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<sign>&&|\|\||==|!=|<=|>=|[-+*/%<>!?:().])""",
    re.VERBOSE | re.ASCII,
)
_BLANKS = re.compile(r"(?:\s|//[^\n]*)*")


def tokens(text: str) -> list[Token]:
    """The tokens of a text, an end token last. Raises ExpressionError."""
    found: list[Token] = []
    position = _after_blanks(text, 0)
    while position < len(text):
        match = _PATTERN.match(text, position)
        if match is None or match.lastgroup is None:
            raise ExpressionError(f"{text[position]!r} at {position} is not understood")
        found.append(Token(Kind(match.lastgroup), match.group(), position))
        position = _after_blanks(text, match.end())
    return [*found, Token(Kind.END, "", position)]


def _after_blanks(text: str, position: int) -> int:
    match = _BLANKS.match(text, position)
    return match.end() if match else position
