"""Which parser reads a path: the one that claims all of it, or the longest suffix."""

import logging
from collections.abc import Mapping, Sequence

from router import wire
from router.framework.errors import ErrorCode, RequestError
from router.framework.parsing import Parser

DEFAULT_PATH = "/v1/completions"

log = logging.getLogger(__name__)


class ParserTable:
    """Parsers by the path suffixes they claim."""

    def __init__(self, parsers: Sequence[Parser], *, whole_segments: bool) -> None:
        """`whole_segments`: a suffix must start at a path segment; False compares characters only, as the reference does."""
        self._fallback: Parser | None = None
        self._prefix = "/" if whole_segments else ""
        self._whole_paths: dict[str, Parser] = {}
        claims: list[tuple[str, Parser]] = []
        for parser in _usable(parsers):
            suffixes = [suffix.strip("/") for suffix in parser.claims()]
            if parser.claims_whole_paths():
                self._whole_paths |= dict.fromkeys(suffixes, parser)
            else:
                claims += ((suffix, parser) for suffix in suffixes if suffix)
            if not suffixes:
                self._fallback = parser
                break
        self._claims = sorted(claims, key=lambda claim: -len(claim[0]))  # stable: equal lengths stay in configuration order

    def resolve(self, path: str) -> Parser:
        """The parser for a path without query. Raises RequestError(BadRequest)."""
        stripped = path.strip("/")
        if stripped in self._whole_paths:
            return self._whole_paths[stripped]
        candidate = f"{self._prefix}{stripped}"
        for suffix, parser in self._claims:
            if candidate.endswith(f"{self._prefix}{suffix}"):
                return parser
        if self._fallback is None:
            raise RequestError(ErrorCode.BadRequest, f"no parser registered matching path suffix for: {path}")
        return self._fallback


def request_path(headers: Mapping[str, str]) -> str:
    """The path that decides which parser reads the body, without its query."""
    path = next((value for name in wire.PATH_HEADERS if (value := headers.get(name))), DEFAULT_PATH)
    return path.partition("?")[0]


def _usable(parsers: Sequence[Parser]) -> list[Parser]:
    by_type: dict[str, Parser] = {}
    for parser in parsers:
        kind = parser.type_name or type(parser).__name__
        if kind in by_type:
            log.warning("parser ignored: another one of its type is configured", extra={"fields": {"name": parser.name, "type": kind}})
        by_type.setdefault(kind, parser)
    return list(by_type.values())
