"""What the server received and did, for tests and for whoever wonders."""

from collections import deque
from collections.abc import Mapping
from typing import Any

LIMIT = 1_000
MEDIA_CUT = 64  # characters of a media string that are kept


class Journal:
    """The last requests, in order of arrival."""

    def __init__(self) -> None:
        self._entries: deque[dict[str, Any]] = deque(maxlen=LIMIT)
        self._next = 0

    def open(self, *, at: float, path: str, headers: Mapping[str, str], body: Any) -> dict[str, Any]:
        """A new entry; the caller adds what becomes known."""
        entry: dict[str, Any] = {"n": self._next, "at": at, "path": path, "headers": dict(headers), "body": cut(body)}
        self._next += 1
        self._entries.append(entry)
        return entry

    def since(self, number: int = 0, path: str | None = None) -> list[dict[str, Any]]:
        """Entries from `number` on."""
        return [e for e in self._entries if e["n"] >= number and (path is None or e["path"] == path)]

    def clear(self) -> None:
        """Empty it; numbers go on."""
        self._entries.clear()


def cut(value: Any) -> Any:
    """A copy of a JSON value with long data URLs shortened."""
    if isinstance(value, str):
        return f"{value[:MEDIA_CUT]}… ({len(value)} characters)" if len(value) > 4 * MEDIA_CUT and value.startswith("data:") else value
    if isinstance(value, Mapping):
        return {key: cut(item) for key, item in value.items()}
    if isinstance(value, list):
        return [cut(item) for item in value]
    return value
