"""Label selectors as Kubernetes writes them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from router.framework.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One of a selector's `matchExpressions`."""

    key: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.key:
            raise ConfigError("must not be empty", field="key")
        listed = self.operator in {"In", "NotIn"}
        if listed != bool(self.values):
            raise ConfigError(f"{self.operator} {'needs at least one value' if listed else 'takes no values'}", field="values")

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels satisfy it; a missing label is in no list."""
        if self.operator == "In":
            return labels.get(self.key) in self.values
        if self.operator == "NotIn":
            return labels.get(self.key) not in self.values
        return (self.key in labels) == (self.operator == "Exists")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSelector:
    """All of it must hold; an empty one selects everything."""

    match_labels: Mapping[str, str] = field(default_factory=dict[str, str])
    match_expressions: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels satisfy every part."""
        equal = all(labels.get(key) == value for key, value in self.match_labels.items())
        return equal and all(requirement.matches(labels) for requirement in self.match_expressions)
