"""Structured logs to stderr: a constant message, values as fields. Levels follow the `-v` flag.

`logging.getLogger(__name__).info("text", extra={"fields": {...}})` is how every module logs; this module decides what is printed.
"""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

Encoder = Literal["json", "console"]

INFO_VERBOSITY, VERBOSE_VERBOSITY, DEBUG_VERBOSITY, TRACE_VERBOSITY = 2, 3, 4, 5
VERBOSE = 15  # between the standard levels INFO and DEBUG
TRACE = 5  # below DEBUG

_LEVELS = {INFO_VERBOSITY: logging.INFO, VERBOSE_VERBOSITY: VERBOSE, DEBUG_VERBOSITY: logging.DEBUG, TRACE_VERBOSITY: TRACE}
_NAMES = {VERBOSE: "verbose", TRACE: "trace"}


def level_for(verbosity: int) -> int:
    """The lowest level printed at `-v verbosity`: errors always, two request lines from 2, everything from 5."""
    if verbosity < INFO_VERBOSITY:
        return logging.WARNING if verbosity == 1 else logging.ERROR
    return _LEVELS[min(verbosity, TRACE_VERBOSITY)]


def configure(verbosity: int, encoder: Encoder, stream: TextIO | None = None) -> None:
    """Send every log line of this process to `stream` (stderr) in the given form."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter() if encoder == "json" else ConsoleFormatter())
    root = logging.getLogger()
    for known in root.handlers[:]:
        root.removeHandler(known)
    root.addHandler(handler)
    root.setLevel(max(level_for(verbosity), logging.WARNING))
    logging.getLogger("router").setLevel(level_for(verbosity))


class JsonFormatter(logging.Formatter):
    """One JSON object a line: `ts`, `level`, `logger`, `msg`, then the fields."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        line: dict[str, Any] = {
            "ts": _time(record),
            "level": _level(record),
            "logger": record.name,
            "msg": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            line["stacktrace"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class ConsoleFormatter(logging.Formatter):
    """Tab-separated time, level, logger and message, then the fields as JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        parts = [_time(record), _level(record).upper(), record.name, record.getMessage()]
        fields = _fields(record)
        if fields:
            parts.append(json.dumps(fields, default=str))
        text = "\t".join(parts)
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    fields = getattr(record, "fields", None)
    return fields if isinstance(fields, dict) else {}


def _level(record: logging.LogRecord) -> str:
    return _NAMES.get(record.levelno, record.levelname.lower())


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
