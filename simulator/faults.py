"""Faults on demand: a match, an effect, a budget.

A fault says what goes wrong (`effect.kind` with its arguments), for which requests (`match`), how often (`count`, `rate`) and after how
many that pass (`after`). Effects without a request (`slow`, `stall`, `unhealthy`, `metrics`) hold as long as the fault exists.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from random import Random
from typing import Any

from simulator.errors import OptionsError

REQUEST_KINDS = ("status", "delay", "hang", "reset", "cut_stream", "truncate_body", "garbage")
STANDING_KINDS = ("slow", "stall", "unhealthy", "metrics")
KINDS = (*REQUEST_KINDS, *STANDING_KINDS, "exit")


@dataclass(slots=True)
class Fault:
    """One fault and what is left of its budget."""

    id: str
    match: Mapping[str, Any]
    effect: Mapping[str, Any]
    rate: float = 1.0
    count: int | None = None
    after: int = 0

    @property
    def kind(self) -> str:
        """Kind of the effect."""
        return self.effect["kind"]

    def fits(self, path: str, headers: Mapping[str, str], *, has_media: bool) -> bool:
        """Whether a request is meant."""
        wanted = self.match.get("path")
        if wanted and not fnmatchcase(path, wanted):
            return False
        if "has_media" in self.match and self.match["has_media"] != has_media:
            return False
        return all(fnmatchcase(headers.get(name.lower(), ""), pattern) for name, pattern in (self.match.get("header") or {}).items())


def fault(document: Mapping[str, Any], number: int) -> Fault:
    """A fault from its document. Raises OptionsError."""
    effect = document.get("effect")
    if not isinstance(effect, Mapping) or effect.get("kind") not in KINDS:
        kind = effect.get("kind") if isinstance(effect, Mapping) else effect
        raise OptionsError(f"fault: effect.kind {kind!r} is none of {', '.join(KINDS)}")
    unknown = set(document) - {"id", "match", "effect", "rate", "count", "after"}
    if unknown:
        raise OptionsError(f"fault: unknown field {sorted(unknown)[0]!r}; allowed are id, match, effect, rate, count, after")
    return Fault(
        str(document.get("id") or f"f{number}"),
        document.get("match") or {},
        effect,
        float(document.get("rate", 1.0)),
        document.get("count"),
        int(document.get("after", 0)),
    )


class Faults:
    """The active faults of one server."""

    def __init__(self, documents: Iterable[Mapping[str, Any]], random: Random) -> None:
        self.injected: dict[str, int] = {}
        self._faults: list[Fault] = []
        self._random = random
        self._made = 0
        for document in documents:
            self.add(document)

    def add(self, document: Mapping[str, Any]) -> str:
        """Activate a fault; returns its id. Raises OptionsError."""
        self._made += 1
        made = fault(document, self._made)
        self._faults.append(made)
        return made.id

    def remove(self, fault_id: str | None = None) -> None:
        """End one fault, or all."""
        self._faults = [f for f in self._faults if fault_id is not None and f.id != fault_id]

    def active(self) -> list[dict[str, Any]]:
        """Faults with what is left of them."""
        return [{"id": f.id, "effect": dict(f.effect), "match": dict(f.match), "count": f.count} for f in self._faults]

    def for_request(self, path: str, headers: Mapping[str, str], *, has_media: bool) -> Mapping[str, Any] | None:
        """The effect that hits a request, its budget charged."""
        for candidate in self._faults:
            if candidate.kind in STANDING_KINDS or candidate.count == 0 or not candidate.fits(path, headers, has_media=has_media):
                continue
            if candidate.after:
                candidate.after -= 1
                continue
            if candidate.rate < 1 and self._random.random() >= candidate.rate:
                continue
            if candidate.count is not None:
                candidate.count -= 1
            self.injected[candidate.kind] = self.injected.get(candidate.kind, 0) + 1
            return candidate.effect
        return None

    def standing(self, kind: str) -> Mapping[str, Any] | None:
        """The effect of a standing fault."""
        return next((f.effect for f in self._faults if f.kind == kind), None)

    def slowdown(self) -> float | None:
        """Factor on the engine's time; None: it does not step."""
        if self.standing("stall"):
            return None
        slow = self.standing("slow")
        return float(slow.get("factor", 10)) if slow else 1.0
