"""Keeps label values that clients choose from growing without bound."""

from collections.abc import Iterable

OTHER = "other"
DEFAULT_LIMIT = 1000  # distinct values per process
LONGEST = 256  # characters; a name on a model hub has at most 193, a megabyte of label would be in every scrape


class LabelCap:
    """Lets the first `limit` distinct values pass and calls later ones `other`, as it does very long ones. Empty stays empty."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self._limit = limit
        self._seen: set[str] = set()
        self._kept: frozenset[str] = frozenset()

    def keep(self, values: Iterable[str]) -> None:
        """Values that always pass and are not counted, such as model names of rewrite rules; replaces the earlier ones."""
        self._kept = frozenset(values)

    def __call__(self, value: str) -> str:
        """The value to use as label."""
        if not value or value in self._seen or value in self._kept:
            return value
        if len(value) > LONGEST or len(self._seen) >= self._limit:
            return OTHER
        self._seen.add(value)
        return value
