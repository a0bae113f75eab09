import io
import json
import logging
import sys
from collections.abc import Generator

import pytest

from router.telemetry.logs import TRACE, VERBOSE, ConsoleFormatter, JsonFormatter, configure, level_for
from tests.support.logging_state import kept_logging


@pytest.fixture(autouse=True)
def _restore() -> Generator[None]:
    with kept_logging():
        yield


def record(**extra: object) -> logging.LogRecord:
    made = logging.LogRecord("router.x", logging.INFO, "", 0, "engine is up", None, None)
    made.created = 0.5
    made.__dict__.update(extra)
    return made


@pytest.mark.parametrize(
    ("verbosity", "level"),
    [(0, logging.ERROR), (1, logging.WARNING), (2, logging.INFO), (3, VERBOSE), (4, logging.DEBUG), (5, TRACE), (9, TRACE)],
)
def test_verbosity_is_a_level(verbosity: int, level: int) -> None:
    assert level_for(verbosity) == level


def test_a_json_line_has_message_and_fields() -> None:
    line = json.loads(JsonFormatter().format(record(fields={"port": 9002})))

    assert line == {"ts": "1970-01-01T00:00:00.500Z", "level": "info", "logger": "router.x", "msg": "engine is up", "port": 9002}


def test_a_console_line_is_readable() -> None:
    line = ConsoleFormatter().format(record(fields={"port": 9002}))

    assert line == '1970-01-01T00:00:00.500Z\tINFO\trouter.x\tengine is up\t{"port": 9002}'


@pytest.mark.parametrize("formatter", [JsonFormatter(), ConsoleFormatter()], ids=["json", "console"])
def test_an_exception_is_printed_with_its_trace(formatter: logging.Formatter) -> None:
    try:
        raise ValueError("odd")
    except ValueError:
        line = formatter.format(record(exc_info=sys.exc_info()))

    assert "ValueError: odd" in line


def test_our_own_levels_have_names() -> None:
    assert json.loads(JsonFormatter().format(record(levelno=VERBOSE)))["level"] == "verbose"


def test_configured_logs_print_what_verbosity_allows() -> None:
    stream = io.StringIO()
    configure(2, "json", stream)

    logging.getLogger("router.a").info("seen")
    logging.getLogger("router.a").debug("not seen")
    logging.getLogger("library").info("not ours")
    logging.getLogger("library").warning("theirs")

    assert [json.loads(line)["msg"] for line in stream.getvalue().splitlines()] == ["seen", "theirs"]
