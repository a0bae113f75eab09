"""The catalogue of plugins and the files of plugins name the same things."""

import pytest

from router.plugins.registry import ENTRIES
from tests.support.sources import ROOT, camel, sources


def plugin_files() -> set[str]:
    """Type names that the files of plugin families stand for."""
    paths = [source.path.split("/") for source in sources() if source.path.startswith("router/plugins/")]
    return {parts[3].removesuffix(".py").replace("_", "-") for parts in paths if len(parts) == 4 and parts[3] != "__init__.py"}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.type_name)
def test_row_has_its_file(entry: object) -> None:
    """A row that only renames another type is built by the other's class."""
    build = getattr(entry, "build")  # noqa: B009 - the catalogue's rows are read by name only
    module = build.__module__.rsplit(".", 1)[-1]

    assert (ROOT / f"{build.__module__.replace('.', '/')}.py").is_file()
    assert build.__name__ == camel(module), f"{build.__module__} should hold {camel(module)}"


def test_every_file_has_its_row() -> None:
    missing = plugin_files() - {entry.type_name for entry in ENTRIES}

    assert missing == set(), f"add rows to router/plugins/registry.py: {sorted(missing)}"


def test_types_are_unique() -> None:
    names = [entry.type_name for entry in ENTRIES]

    assert len(names) == len(set(names))
