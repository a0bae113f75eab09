"""Nothing grows beyond what can be read at once. Complexity is ruff's to check."""

import ast

import pytest

from tests.support.sources import Function, Source, sources

MODULE_LINES = 400
PART_LINES = 200
FUNCTION_LINES = 50
CONSTRUCTOR_LINES = 40  # of components
ENTRY_LINES = 60  # of the program
PARAMETERS = 6  # without self

every_source = pytest.mark.parametrize("source", sources(), ids=lambda source: source.path)


def is_part(source: Source) -> bool:
    """Plugins, connectors and components: one behaviour, one file."""
    folders = ("router/plugins/", "router/sidecar/connectors/", "components/infra/", "components/platform/", "components/serving/")
    return source.path.startswith(folders) and source.name != "registry"


def limit(source: Source) -> int:
    if source.path == "__main__.py":
        return ENTRY_LINES
    return PART_LINES if is_part(source) else MODULE_LINES


def length(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def parameters(function: Function) -> int:
    arguments = function.args
    names = [a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]
    return len([name for name in names if name not in ("self", "cls")]) + (arguments.vararg is not None) + (arguments.kwarg is not None)


def is_command(function: Function) -> bool:
    """A command's parameters are its options: `Annotated[..., typer.Option(...)]`."""
    return "typer." in ast.unparse(function.args)


@every_source
def test_module_is_short(source: Source) -> None:
    assert source.lines <= limit(source), f"{source.path} has {source.lines} lines, {limit(source)} are allowed: give a part its own file"


@every_source
def test_functions_are_short(source: Source) -> None:
    in_component = {f for c in source.classes() if "ComponentResource" in ast.unparse(c) for f in c.body}

    def allowed(function: Function) -> int:
        return CONSTRUCTOR_LINES if function.name == "__init__" and function in in_component else FUNCTION_LINES

    long = [f"{f.name} (line {f.lineno}): {length(f)} lines, {allowed(f)} allowed" for f in source.functions() if length(f) > allowed(f)]

    assert long == [], f"{source.path}: {'; '.join(long)}"


@every_source
def test_functions_take_few_parameters(source: Source) -> None:
    many = [f"{f.name} (line {f.lineno}): {parameters(f)}" for f in source.functions() if parameters(f) > PARAMETERS and not is_command(f)]

    assert many == [], f"{source.path}: {'; '.join(many)}; {PARAMETERS} parameters are allowed: pass a value that holds them"
