"""Every module that does something has its test file: same path, same name."""

import ast
from pathlib import Path

import pytest
import yaml

from tests.support.sources import ROOT, Function, Source, sources

EXCEPTIONS: dict[str, str] = yaml.safe_load((ROOT / "tests/architecture/mirror_exceptions.yaml").read_text(encoding="utf-8")) or {}


def does_something(function: Function) -> bool:
    """A body beyond a docstring, `...` and an abstract method's error."""
    rest = [node for node in function.body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    return any(not isinstance(node, ast.Pass | ast.Raise) for node in rest)


def has_code(source: Source) -> bool:
    return any(does_something(function) for function in source.functions())


def test_file(source: Source) -> Path:
    path = Path(source.path)
    return Path("tests") / path.parent / f"test_{path.stem.strip('_')}.py"


test_file.__test__ = False  # pyright: ignore[reportFunctionMemberAccess] - a helper, whatever its name begins with


@pytest.mark.parametrize("source", [s for s in sources() if has_code(s)], ids=lambda source: source.path)
def test_module_has_its_test_file(source: Source) -> None:
    if source.path in EXCEPTIONS:
        return
    expected = test_file(source)

    assert (ROOT / expected).is_file(), f"{source.path}: write {expected}, or give a reason in tests/architecture/mirror_exceptions.yaml"


def test_exceptions_are_needed_and_have_reasons() -> None:
    known = {source.path: source for source in sources()}

    for path, reason in EXCEPTIONS.items():
        assert path in known, f"{path} is gone; remove its exception"
        assert not (ROOT / test_file(known[path])).is_file(), f"{path} has a test file by now; remove its exception"
        assert len(reason) > 20, f"{path}: say why it needs no test file of its own"


def test_test_files_belong_to_a_module() -> None:
    """A test file whose module was renamed tests nothing that a reader would look for there."""
    mirrored = {str(test_file(source)) for source in sources()}
    packages = ("router", "components", "simulator", "local", "cli", "bench")
    found = {str(f.relative_to(ROOT)) for package in packages for f in (ROOT / "tests" / package).rglob("test_*.py")}

    assert found - mirrored == set(), "rename these after their module, or move them to tests/scenarios or tests/seam"
