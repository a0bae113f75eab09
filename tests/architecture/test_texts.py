"""Files hold nothing of the machine they were written on, and no licence headers."""

from pathlib import Path

import pytest

from tests.support.sources import ROOT, Source, sources

MACHINE_PATHS = ("/".join(("", "root", "")), "/".join(("", "home", "")), "/".join(("", "Users", "")), "/".join(("", "work", "")))
SUFFIXES = {".py", ".md", ".yaml", ".yml", ".toml", ".sh", ".txt", ".json", ""}
SKIPPED = {".git", ".venv", "__pycache__", ".pytest_cache", ".ruff_cache", ".import_linter_cache", ".hypothesis", ".mmserve", "dist"}


def files() -> list[Path]:
    found = (path for path in ROOT.rglob("*") if not SKIPPED & set(path.relative_to(ROOT).parts))
    return sorted(path for path in found if path.is_file() and path.suffix in SUFFIXES)


def test_no_path_of_a_machine_is_written_down() -> None:
    allowed = "/root/.cache"  # inside a container image
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if any(part in line.replace(allowed, "") for part in MACHINE_PATHS)
    ]

    assert found == [], f"paths of one machine: {found}"


@pytest.mark.parametrize("source", [s for s in sources() if s.text.strip()], ids=lambda source: source.path)
def test_module_begins_with_its_docstring(source: Source) -> None:
    first = next((line for line in source.text.splitlines() if line.strip()), "")

    assert first.startswith(('"""', 'r"""')), f"{source.path}: say what the module holds; no header before it"
