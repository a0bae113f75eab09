"""From a mapping of a document to a dataclass, strictly.

A field `queue_threshold_tokens` is written `queueThresholdTokens`; other spellings are stated with `spelled`. Names match exactly,
else ignoring case. `null` means unset. What a dataclass cannot express by its types it checks in `__post_init__`, raising a
`ConfigError` with the field it is about.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from router.framework.errors import ConfigError
from router.framework.units import DURATION_FORM, QUANTITY_FORM, parse_duration, parse_quantity

T = TypeVar("T")

_NAME, _REFERENCE = "name", "plugin"
_SHOWN_CHARACTERS = 80


class _Form(Enum):
    DURATION = DURATION_FORM
    QUANTITY = QUANTITY_FORM


Duration = Annotated[float, _Form.DURATION]  # seconds, written as a Go duration
Quantity = Annotated[int, _Form.QUANTITY]  # a whole number, written as a Kubernetes quantity


def spelled(name: str, default: Any) -> Any:
    """A dataclass field whose name in documents is `name`, not the camel case of its own."""
    return dataclasses.field(default=default, metadata={_NAME: name})


def plugin_reference(default: str = "", *, name: str = "") -> Any:
    """A field that names another plugin: that one is built first, and must exist."""
    return dataclasses.field(default=default, metadata={_REFERENCE: True, **({_NAME: name} if name else {})})


def camel(name: str) -> str:
    """`snake_case` as documents spell it."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def spelling(field: "dataclasses.Field[Any]") -> str:
    """The name of a dataclass field in documents."""
    return field.metadata.get(_NAME) or camel(field.name)


def decode(target: type[T], value: Any) -> T:
    """An instance of the dataclass `target` from a mapping (None: all defaults). Raises ConfigError with the path of the field."""
    if value is None:
        value = {}
    if not isinstance(value, Mapping):
        raise ConfigError(f"{show(value)} is not allowed here; give a mapping")
    given = _resolve(target, cast("Mapping[Any, Any]", value))
    arguments: dict[str, Any] = {}
    for field in dataclasses.fields(cast("Any", target)):
        name = spelling(field)
        if given.get(name) is not None:
            arguments[field.name] = _within(name, _types(target)[field.name], given[name])
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise ConfigError("required, but not given", field=name)
    return target(**arguments)


def plugin_references(parameters: object) -> tuple[str, ...]:
    """Names of the plugins that decoded `parameters` refer to, nested dataclasses included."""
    names: list[str] = []
    for field in dataclasses.fields(cast("Any", parameters)):
        value = getattr(parameters, field.name)
        if field.metadata.get(_REFERENCE) and value:
            names.append(value)
        elif dataclasses.is_dataclass(value):
            names.extend(plugin_references(value))
    return tuple(names)


def nearest(name: str, known: Sequence[str]) -> str:
    """The known names closest to a wrong one, as the end of an error text."""
    close = get_close_matches(name, known, n=1)
    return f'; did you mean "{close[0]}"?' if close else f"; known: {', '.join(sorted(known)) or 'none'}"


def show(value: Any) -> str:
    """A short form of a value for error texts."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"


def _types(target: type[Any]) -> dict[str, Any]:
    return get_type_hints(target, include_extras=True)


def _resolve(target: type[Any], value: Mapping[Any, Any]) -> dict[str, Any]:
    """`value` with its keys in the exact spelling."""
    exact = [spelling(field) for field in dataclasses.fields(cast("Any", target))]
    folded = {name.lower(): name for name in exact}
    given: dict[str, Any] = {}
    for key, item in value.items():
        name = key if key in exact else folded.get(str(key).lower())
        if name is None:
            raise ConfigError(f"unknown{nearest(str(key), exact)}", field=str(key))
        if name in given:
            raise ConfigError("given twice, in different spellings", field=name)
        given[name] = item
    return given


def _within(name: str, kind: Any, value: Any) -> Any:
    try:
        return _convert(kind, value)
    except ConfigError as error:
        raise error.within(field=name) from None


def _convert(kind: Any, value: Any) -> Any:
    origin, parts = get_origin(kind), get_args(kind)
    if origin in _CONTAINERS:
        return _CONTAINERS[origin](parts, value)
    if kind is Any:
        return value
    if dataclasses.is_dataclass(kind):
        return decode(cast("type[Any]", kind), value)
    if issubclass(kind, Enum):
        return _one_of(value, {member.value: member for member in kind})
    return _scalar(kind, value)


def _optional(parts: tuple[Any, ...], value: Any) -> Any:
    return _convert(next(part for part in parts if part is not NoneType), value)


def _measure(form: _Form, value: Any) -> float | int:
    whole = isinstance(value, int) and not isinstance(value, bool)
    try:
        if form is _Form.DURATION and isinstance(value, str):
            return parse_duration(value)
        if form is _Form.QUANTITY and (isinstance(value, str) or whole):
            return parse_quantity(value)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    raise ConfigError(f"{show(value)} is not {form.value}")


def _one_of(value: Any, choices: Mapping[Any, Any]) -> Any:
    if isinstance(value, str | int) and value in choices:
        return choices[value]
    raise ConfigError(f"{show(value)} is not one of {', '.join(repr(choice) for choice in choices)}")


def _items(kind: Any, value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise ConfigError(f"{show(value)} is not a list")
    return tuple(_within(f"[{index}]", kind, item) for index, item in enumerate(cast("Sequence[Any]", value)))


def _entries(kind: Any, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{show(value)} is not a mapping")
    return {str(key): _within(str(key), kind, item) for key, item in cast("Mapping[Any, Any]", value).items()}


def _scalar(kind: type[Any], value: Any) -> Any:
    names = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    if type(value) is kind and kind is not float:
        return value
    raise ConfigError(f"{show(value)} is not {names[kind]}")


_CONTAINERS: dict[Any, Callable[[tuple[Any, ...], Any], Any]] = {
    Annotated: lambda parts, value: _measure(parts[1], value),
    Union: _optional,
    UnionType: _optional,
    Literal: lambda parts, value: _one_of(value, {part: part for part in parts}),
    tuple: lambda parts, value: _items(parts[0], value),
    Mapping: lambda parts, value: _entries(parts[1], value),
}
