"""A name is an address: the type in a configuration, the file, the class and the test follow from each other."""

import ast
import re
from pathlib import Path

import pytest

from tests.support.sources import ROOT, Source, camel, constant, sources

GRAB_BAGS = {"utils", "util", "common", "misc", "base", "core", "manager", "impl", "data", "info", "helpers", "helper"}
FAMILY = re.compile(r"^router/plugins/[a-z_]+/[a-z_0-9]+\.py$")
COMPONENT = re.compile(r"^components/(infra|platform|serving)/[a-z_0-9]+\.py$")

every_source = pytest.mark.parametrize("source", sources(), ids=lambda source: source.path)


def modules(pattern: re.Pattern[str]) -> list[Source]:
    return [source for source in sources() if pattern.match(source.path) and source.name != "__init__"]


def tokens(source: Source) -> list[str]:
    """Type tokens that a component passes to its base class."""
    literals = [node.value for node in ast.walk(source.tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [text for text in literals if text.startswith("llmd:")]


@every_source
def test_module_name_says_what_it_holds(source: Source) -> None:
    words = set(Path(source.path).with_suffix("").parts)

    assert words & GRAB_BAGS == set(), f"{source.path}: a grab-bag name; say what the module holds"
    assert source.name == source.name.lower(), f"{source.path}: module names are lower case"


@pytest.mark.parametrize("source", modules(FAMILY), ids=lambda source: source.path)
def test_plugin_type_file_and_class_agree(source: Source) -> None:
    expected = source.name.replace("_", "-")
    classes = [node.name for node in source.classes()]

    assert constant(source, "TYPE") == expected, f"{source.path}: TYPE must be {expected!r}, after the file"
    assert camel(source.name) in classes, f"{source.path}: the class must be called {camel(source.name)}, it has {classes}"


@pytest.mark.parametrize("source", [s for s in modules(COMPONENT) if tokens(s)], ids=lambda source: source.path)
def test_component_token_file_and_classes_agree(source: Source) -> None:
    expected = f"llmd:{source.path.split('/')[1]}:{camel(source.name)}"
    classes = {node.name for node in source.classes()}

    assert tokens(source) == [expected], f"{source.path}: the token must be {expected}"
    assert {camel(source.name), f"{camel(source.name)}Args"} <= classes


@pytest.mark.parametrize("source", [s for s in sources() if s.name == "__init__"], ids=lambda source: source.path)
def test_package_files_hold_a_docstring_at_most(source: Source) -> None:
    extra = [node for node in source.tree.body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]

    assert extra == [], f"{source.path}: move line {extra[0].lineno} into a module" if extra else ""
    assert len(source.tree.body) <= 1


def test_every_folder_of_modules_is_a_package() -> None:
    folders = {(ROOT / source.path).parent for source in sources()} - {ROOT}

    missing = [str(folder.relative_to(ROOT)) for folder in folders if not (folder / "__init__.py").is_file()]

    assert missing == [], f"these folders need an __init__.py with a docstring: {missing}"
