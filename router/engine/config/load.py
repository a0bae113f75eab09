"""From the text of a configuration document to an `Assembly`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from router.engine.config.assemble import Assembly
from router.framework.plugin import Entry, Handle, Plugin
from router.metrics.scheduling import SchedulingMetrics


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """What the process brings to a configuration."""

    entries: Sequence[Entry]  # the registry
    aliases: Mapping[str, str]  # deprecated type -> type
    unbuilt: frozenset[str]  # types that exist in the field but not here yet
    handle_for: Callable[[Mapping[str, Plugin]], Handle]  # called once, with the mapping that fills as plugins are built
    metrics: SchedulingMetrics
    allow_experimental: bool = False


def load(text: str, *, source: str, options: LoadOptions) -> Assembly:
    """The plugins that `text` describes, wired; empty: the built-in configuration. `source` names it in errors. Raises ConfigError."""
    raise NotImplementedError(source, text, options)
