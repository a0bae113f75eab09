"""`docs/plugins.md` as the registry says it should read."""

import dataclasses
import inspect
import sys
from typing import Any, get_args, get_type_hints

from router.framework import collecting, control, flow, parsing, scheduling
from router.framework.parameters import spelling
from router.framework.plugin import Entry, Plugin
from router.plugins.registry import ALIASES, ENTRIES, UNBUILT

HEAD = """# Plugins

Every type that a configuration document may name, as the registry (`router/plugins/registry.py`) has them. Written by
`UPDATE_GOLDEN=1 .venv/bin/python -m pytest tests/architecture/test_plugin_page.py`; a test holds it to the registry.

*beta* types are settled, *alpha* ones need `--allow-experimental-plugins`, *deprecated* ones work and log a line. Parameters are
given with their defaults; a parameter that is not listed is refused.
"""
ROLES = (parsing, control, scheduling, collecting, flow)


def catalogue() -> str:
    """The whole page."""
    sections = [_section(entry) for entry in sorted(ENTRIES, key=lambda entry: entry.type_name)]
    aliases = "".join(f"* `{alias}` is `{name}`\n" for alias, name in sorted(ALIASES.items()))
    unbuilt = ", ".join(f"`{name}`" for name in sorted(UNBUILT))
    refused = f"## Known but not built\n\nA document that names one of these is refused: {unbuilt}.\n"
    return f"{HEAD}\n{''.join(sections)}## Older names\n\n{aliases}\n{refused}"


def _section(entry: Entry) -> str:
    plugin: Any = entry.build
    stability = entry.stability.value + (f", use `{entry.replaced_by}`" if entry.replaced_by else "")
    lines = [f"## {entry.type_name}\n", f"*{', '.join(_roles(plugin))} · {stability}*\n", f"{_summary(plugin)}\n"]
    rows = list(_rows(entry.parameters, ""))
    if rows:
        lines += ["| parameter | default |", "|---|---|", *(f"| `{name}` | {default} |" for name, default in rows), ""]
    return "\n".join(lines) + "\n"


def _roles(plugin: Any) -> list[str]:
    """Names of the contract's classes that the plugin implements, in words."""
    if not inspect.isclass(plugin):
        return ["plugin"]
    known = [cls for module in ROLES for _, cls in inspect.getmembers(module, inspect.isclass) if cls.__module__ == module.__name__]
    found = [cls.__name__ for cls in plugin.__mro__ if cls in known and issubclass(cls, Plugin)]
    return ["".join(f" {c.lower()}" if c.isupper() else c for c in name).strip() for name in found] or ["plugin"]


def _summary(plugin: Any) -> str:
    """The first paragraph of the plugin's module."""
    text = inspect.getdoc(sys.modules[plugin.__module__]) or ""
    return " ".join(text.split("\n\n", 1)[0].split())


def _rows(parameters: Any, prefix: str) -> Any:
    hints = get_type_hints(parameters)
    for field in dataclasses.fields(parameters):
        name = f"{prefix}{spelling(field)}"
        nested = next((t for t in (hints[field.name], *get_args(hints[field.name])) if dataclasses.is_dataclass(t)), None)
        if nested is not None and not _is_list(hints[field.name]):
            yield from _rows(nested, f"{name}.")
        else:
            yield name, _default(field)


def _is_list(hint: Any) -> bool:
    return any(part in str(hint) for part in ("tuple[", "Sequence[", "list["))


def _default(field: "dataclasses.Field[Any]") -> str:
    value = field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default
    if value is dataclasses.MISSING:
        return "required"
    if value is None or value in ("", (), {}):
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    return f"`{getattr(value, 'value', value)}`"
