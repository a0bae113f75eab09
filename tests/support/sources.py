"""The source files of this repository, parsed once, for tests about their form."""

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("router", "components", "simulator", "local", "cli", "bench", "policies")
GENERATED = ("router/engine/extproc/proto/",)  # written by a compiler, not by us

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Source:
    """One module."""

    path: str  # from the root
    text: str = field(repr=False)
    tree: ast.Module = field(repr=False)

    @property
    def name(self) -> str:
        """The file's name without its suffix."""
        return Path(self.path).stem

    @property
    def lines(self) -> int:
        """Lines, blank ones and comments included."""
        return self.text.count("\n")

    def functions(self) -> Iterator[Function]:
        """Functions and methods, nested ones too."""
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))

    def classes(self) -> Iterator[ast.ClassDef]:
        """Classes at the top level."""
        return (node for node in self.tree.body if isinstance(node, ast.ClassDef))


@functools.cache
def sources() -> tuple[Source, ...]:
    """Every module of the packages and the program itself, tests apart."""
    files = [ROOT / "__main__.py", *(file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py")))]
    paths = [(str(file.relative_to(ROOT)), file) for file in files]
    return tuple(_read(path, file) for path, file in paths if not path.startswith(GENERATED))


def _read(path: str, file: Path) -> Source:
    text = file.read_text(encoding="utf-8")
    return Source(path, text, ast.parse(text, path))


def camel(name: str) -> str:
    """A class is its file's words, each capitalised."""
    return "".join(word.capitalize() for word in name.split("_"))


def constant(source: Source, name: str) -> object | None:
    """The value of a literal constant of a module, or None."""
    for node in source.tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            return value.value if isinstance(value, ast.Constant) else None
    return None
