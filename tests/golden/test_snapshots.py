"""Our own renders, committed: whoever changes an object sees the change in review.

`UPDATE_GOLDEN=1 .venv/bin/python -m pytest tests/golden` writes them anew; read the diff before committing it.
"""

import os

import pytest

from cli.render import Format, rendered
from tests.support.recordings import ROOT, STACKS, recorded

FOLDER = ROOT / "tests" / "golden"
HINT = "if the change is meant: UPDATE_GOLDEN=1 .venv/bin/python -m pytest tests/golden, then review the diff"


@pytest.mark.parametrize("name", STACKS)
def test_render_equals_the_committed_snapshot(name: str) -> None:
    text = rendered(recorded(name), Format.YAML, everything=True)
    file = FOLDER / f"{name}.yaml"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")

    assert file.is_file(), f"{file.name} is missing; {HINT}"
    assert text == file.read_text(encoding="utf-8"), HINT


@pytest.mark.parametrize("name", STACKS)
def test_resource_names_equal_the_committed_list(name: str) -> None:
    """A changed URN replaces what is below it, so it needs an alias and a decision."""
    text = "".join(f"{urn}\n" for urn in sorted(item.urn.split("::", 2)[2] for item in recorded(name).resources))
    file = FOLDER / "urns" / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")

    assert file.is_file(), f"urns/{file.name} is missing; {HINT}"
    assert text == file.read_text(encoding="utf-8"), HINT


def test_no_snapshot_is_left_over() -> None:
    snapshots = {path.stem for path in FOLDER.glob("*.yaml")} - {"deviations"}

    assert snapshots == set(STACKS)
