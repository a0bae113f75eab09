"""YAML (and so JSON) read strictly: a key given twice is an error, and texts stay texts."""

import re
from collections.abc import Hashable
from typing import Any, cast

import yaml

from router.framework.errors import ConfigError
from router.framework.parameters import show

_MERGE = "tag:yaml.org,2002:merge"
_FLOAT = "tag:yaml.org,2002:float"
_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_EXPONENT = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)[eE][-+]?\d+")  # YAML 1.1 asks for a dot and a sign; JSON does not


class _StrictLoader(yaml.SafeLoader):
    """A safe loader without dates and with the numbers of JSON."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """A mapping whose keys differ. Raises ConfigError."""
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            if key_node.tag == _MERGE:
                continue
            key = cast("Hashable", self.construct_object(key_node, deep=True))
            if not isinstance(key, Hashable):
                raise ConfigError(f"a key must be a text, not {show(key)}{_place(key_node)}")
            if key in seen:
                raise ConfigError(f"given twice{_place(key_node)}", field=str(key))
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


_StrictLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_StrictLoader.add_implicit_resolver(_FLOAT, _EXPONENT, list("-+.0123456789"))


def parse_mapping(text: str) -> dict[str, Any]:
    """The one mapping that a text holds. Raises ConfigError."""
    try:
        value = yaml.load(text, _StrictLoader)  # noqa: S506 - the loader is a safe one
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise ConfigError(f"not YAML: {error.problem or error.context}{place}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"not YAML: {error}") from None
    if not isinstance(value, dict):
        raise ConfigError(f"{show(value)} is not a mapping")
    return cast("dict[str, Any]", value)


def _place(node: yaml.Node) -> str:
    return f" (line {node.start_mark.line + 1})"
