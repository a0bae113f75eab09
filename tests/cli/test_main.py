"""The command line as a whole: help, exit codes, one message instead of a traceback."""

import pytest
from typer import Exit, Typer

from cli import __main__ as program
from router.version import VERSION


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main([]) == 0

    assert "render" in capsys.readouterr().out


@pytest.mark.parametrize(
    "command", [name for name in program.COMMANDS if name in {c.name for c in program.application().registered_commands}]
)
def test_every_command_has_help_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main([command, "--help"]) == 0

    text = " ".join(capsys.readouterr().out.split())
    assert f"Usage: mmserve {command}" in text
    assert f"mmserve {command} " in text.split("Example", 1)[-1], "the docstring needs a line `Example: mmserve ...`"


def test_render_prints_objects(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["render", "--set", "tiers.decode.replicas=2"]) == 0

    assert "replicas: 2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["render", "--set", "router.service.typ=x"], "did you mean type?"),
        (["render", "--stack", "nowhere"], "Pulumi.nowhere.yaml: no such stack; there are: "),
        (["render", "--sett", "a=b"], "No such option: --sett"),
        (["render", "--format", "xml"], "'xml' is not one of 'yaml', 'json', 'tree'"),
        (["rendr"], "No such command 'rendr'"),
        (["render", "--set"], "requires an argument"),
    ],
    ids=["typo", "stack", "option", "format", "command", "argument"],
)
def test_input_that_cannot_be_used_ends_with_one_message(arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(arguments) == 2

    streams = capsys.readouterr()
    assert text in streams.err
    assert "Traceback" not in streams.err
    assert streams.out == ""
    assert len(streams.err.splitlines()) == 1


def failing(error: Exception) -> Typer:
    app = Typer()

    @app.command()
    def _fail() -> None:
        raise error

    return app


def test_a_fault_of_the_program_is_one_message(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.run(failing(KeyError("x")), [], debug=False) == 1

    assert "unexpected KeyError" in capsys.readouterr().err


def test_a_fault_can_be_looked_at() -> None:
    with pytest.raises(KeyError):
        program.run(failing(KeyError("x")), [], debug=True)


@pytest.mark.parametrize(
    ("error", "code"), [(program.LocalError("no port"), 1), (program.ProgramError("refused"), 2), (program.UsageError("typo"), 2)]
)
def test_what_parts_complain_about_is_printed(error: Exception, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.run(failing(error), [], debug=False) == code

    assert capsys.readouterr().err == f"mmserve: {error}\n"


def test_a_command_s_own_exit_code_is_kept() -> None:
    assert program.run(failing(Exit(7)), [], debug=False) == 7


def test_an_interrupt_is_no_fault() -> None:
    app = Typer()

    @app.command()
    def _stop() -> None:
        raise KeyboardInterrupt

    assert program.run(app, [], debug=False) == 130


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["--version"]) == 0
    assert capsys.readouterr().out == f"mmserve {VERSION}\n"
