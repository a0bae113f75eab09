"""What a verification found, for people and for machines."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from rich.table import Table
from rich.text import Text

Verdict = Literal["ok", "failed", "skipped"]
STYLES = {"ok": "green", "failed": "bold red", "skipped": "yellow"}
WORDS = {"ok": "ok", "failed": "FAIL", "skipped": "skip"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that must hold: its id, what is expected, what was seen."""

    id: str
    expectation: str
    observed: str
    verdict: Verdict
    seconds: float = 0
    details: Sequence[str] = field(default_factory=tuple[str, ...])

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against the stack: a skipped step does not."""
        return self.verdict != "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All steps of one verification, in order."""

    url: str
    model: str
    steps: Sequence[Step]
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether every step held."""
        return all(step.ok for step in self.steps)

    def as_json(self) -> str:
        """The report as one JSON document."""
        steps: list[dict[str, Any]] = [{**asdict(step), "ok": step.ok, "seconds": round(step.seconds, 3)} for step in self.steps]
        document = {"ok": self.ok, "url": self.url, "model": self.model, "seconds": round(self.seconds, 3), "steps": steps}
        return json.dumps(document, indent=2)

    def as_table(self) -> Table:
        """The report as a table, a line a step."""
        result = Table(box=None, pad_edge=False, header_style="bold")
        result.add_column("", no_wrap=True)
        result.add_column("CHECK", no_wrap=True)
        result.add_column("EXPECTED")
        result.add_column("OBSERVED", overflow="fold")  # where a pod's whole name has no room, its end still tells it apart
        result.add_column("SECONDS", justify="right", no_wrap=True)
        for step in self.steps:
            mark = Text(WORDS[step.verdict], style=STYLES[step.verdict])
            result.add_row(mark, step.id, step.expectation, Text("\n".join((step.observed, *step.details))), f"{step.seconds:.2f}")
        return result

    @property
    def summary(self) -> str:
        """One line: how many held."""
        held = sum(step.verdict == "ok" for step in self.steps)
        skipped = sum(step.verdict == "skipped" for step in self.steps)
        failed = len(self.steps) - held - skipped
        return f"{held} ok, {failed} failed, {skipped} skipped in {self.seconds:.1f} s"
