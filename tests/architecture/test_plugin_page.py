"""The page of plugins says what the registry says."""

import os
from pathlib import Path

from router.plugins.registry import ENTRIES
from tests.support.plugin_catalogue import catalogue

PAGE = Path(__file__).parents[2] / "docs" / "plugins.md"


def test_the_page_is_what_the_registry_says() -> None:
    wanted = catalogue()
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(wanted, encoding="utf-8")

    assert PAGE.read_text(encoding="utf-8") == wanted, f"{PAGE.name} is older than the registry; run with UPDATE_GOLDEN=1"


def test_every_type_has_its_section_with_a_role_and_a_sentence() -> None:
    page = catalogue()
    for entry in ENTRIES:
        section = page.split(f"## {entry.type_name}\n", 1)[1].split("\n## ", 1)[0]
        assert entry.stability.value in section
        assert section.count("\n") >= 4, f"{entry.type_name}: its module has no docstring"
