"""Turns what pydantic found wrong into lines a person can act on: file, key, value, what is allowed."""

import difflib
import json
from collections.abc import Iterator, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

PREFIX = "multimodal-serving"
SHOWN = 80  # characters of a value that an error repeats


class SettingsError(ValueError):
    """The configuration of a stack cannot be used; `lines` say why, one for each wrong value."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = tuple(lines)

    def located(self, file: str) -> str:
        """The lines, each behind the name of the file to correct."""
        return "\n".join(f"{file}: {line}" for line in self.lines)


def decoded(value: Any) -> Any:
    """Configuration values reach a program as text; objects and lists among them are JSON."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def complaints(error: ValidationError, model: type[BaseModel], secret_keys: Sequence[str]) -> list[str]:
    """One line for each error: `multimodal-serving:KEY: VALUE: what is wrong; what is allowed`."""
    return [_line(found, model, secret_keys) for found in error.errors(include_url=False)]


def _line(found: Any, model: type[BaseModel], secret_keys: Sequence[str]) -> str:
    context = found.get("ctx", {})
    where = [str(part) for part in found["loc"]]
    if found["type"] == "refused":
        key, value, text = context["key"], context["value"], context["reason"]
        inside = ".".join(where)
        key = key if not inside or key.startswith(inside) else f"{inside}.{key}"
    else:
        key, value, text = ".".join(where), found["input"], _text(found, model, where, secret_keys)
    shown = "" if found["type"] in ("extra_forbidden", "missing") else f"{_shown(value)}: "
    return f"{PREFIX}:{key}: {shown}{text}"


def _text(found: Any, model: type[BaseModel], where: list[str], secret_keys: Sequence[str]) -> str:
    context = found.get("ctx", {})
    if found["type"] == "extra_forbidden":
        allowed = sorted([*_keys(_inner(model, where[:-1])), *(secret_keys if len(where) == 1 else ())])
        close = difflib.get_close_matches(where[-1], allowed, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        return f"unknown key; {hint}allowed are {', '.join(allowed)}"
    if found["type"] == "literal_error":
        return f"not allowed; allowed are {context['expected']}"
    if found["type"] == "model_type":
        return f"must be a mapping; keys are {', '.join(sorted(_keys(_inner(model, where))))}"
    if found["type"] == "value_error":
        return str(context["error"])
    text = found["msg"].replace("a valid tuple", "a list").replace("a valid dictionary", "a mapping")
    return text[:1].lower() + text[1:]


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def alias(name: str, field: FieldInfo) -> str:
    """The YAML name of a field."""
    return field.alias or name


def _keys(model: type[BaseModel] | None) -> Iterator[str]:
    if model is not None:
        yield from (alias(name, field) for name, field in model.model_fields.items())


def _inner(model: type[BaseModel], where: Sequence[str]) -> type[BaseModel] | None:
    """The model that a path of YAML names leads to; None below maps and plain values."""
    current: type[BaseModel] | None = model
    for part in where:
        if current is None or part.isdigit():
            continue
        fields = {alias(name, field): field for name, field in current.model_fields.items()}
        current = section_of(fields[part].annotation) if part in fields else None
    return current


def section_of(annotation: Any) -> type[BaseModel] | None:
    """The model inside an annotation such as `X`, `X | None` or `tuple[X, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := section_of(part)) is not None), None)
