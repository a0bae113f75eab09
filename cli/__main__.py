"""The command line, a file a command. No traceback reaches a user unless MMSERVE_DEBUG asks for it."""

import importlib
import importlib.util
import os
import sys
from typing import Annotated

import typer

from cli.stack_choice import UsageError
from local.errors import LocalError
from local.record import ProgramError
from router.version import VERSION

COMMANDS = ("run", "verify", "render")  # each is a module of this package with a function of the same name
BAD_INPUT = 2
FAILED = 1
INTERRUPTED = 130  # as shells report a process that SIGINT ended


def application(wanted: str | None = None) -> typer.Typer:
    """The commands, in the order in which a newcomer needs them. Where one is `wanted`, the others need not be loaded."""
    app = typer.Typer(
        name="mmserve",
        help="Serve a multimodal model: look at a stack, run it here, check it.",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    for name in [wanted] if wanted in COMMANDS else COMMANDS:
        if importlib.util.find_spec(f"cli.{name}") is not None:
            module = importlib.import_module(f"cli.{name}")
            app.command(name)(getattr(module, name))
    app.callback(invoke_without_command=True)(_program)
    return app


def _program(
    context: typer.Context, *, version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False
) -> None:
    """Serve a multimodal model: look at a stack, run it here, check it."""
    if version:
        typer.echo(f"mmserve {VERSION}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return the exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    return run(application(words[0] if words else None), words, debug=bool(os.environ.get("MMSERVE_DEBUG")))


def run(app: typer.Typer, arguments: list[str] | None, debug: bool) -> int:
    """0 done, 1 failed, 2 the input cannot be used, 130 interrupted; any other code is a command's own."""
    try:
        code: object = app(args=arguments, prog_name="mmserve", standalone_mode=False)
    except (UsageError, ProgramError, LocalError) as error:
        return _complain(str(error), FAILED if isinstance(error, LocalError) else BAD_INPUT)
    except typer.Exit as stop:
        return stop.exit_code
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:  # the reader, `head` for example, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if debug:
            raise
        return _unexpected(error)
    return code if isinstance(code, int) else 0


def _unexpected(error: Exception) -> int:
    """Click's usage errors carry their own text and code; anything else is a fault of this program."""
    code = getattr(error, "exit_code", None)
    show = getattr(error, "format_message", None)
    if callable(show) and isinstance(code, int):
        return _complain(str(show()), code)
    return _complain(f"unexpected {type(error).__name__}: {error} (set MMSERVE_DEBUG=1 for the traceback)", FAILED)


def _complain(text: str, code: int) -> int:
    for line in text.splitlines() or [""]:
        typer.echo(f"mmserve: {line}", err=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
