"""From the text of a configuration document to an `Assembly`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from logging import getLogger
from pathlib import Path

from router.engine.config.assemble import Assembly, assemble
from router.engine.config.build import Builder, Catalogue
from router.engine.config.defaults import BUILT_IN
from router.engine.config.schema import read_document
from router.framework.errors import ConfigError
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


def read_text(path: str, text: str) -> tuple[str, str]:
    """The document's text and what errors call its origin: the file at `path` or, without one, `text`. Raises ConfigError."""
    if not path:
        return text, "--config-text"
    try:
        return Path(path).read_text(encoding="utf-8"), path
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read: {error}", source=path) from None


def load(text: str, *, source: str, options: LoadOptions) -> Assembly:
    """The plugins that `text` describes, wired; empty: the built-in configuration. `source` names it in errors. Raises ConfigError."""
    catalogue = Catalogue(
        entries={entry.type_name: entry for entry in options.entries},
        aliases=options.aliases,
        unbuilt=options.unbuilt,
        allow_experimental=options.allow_experimental,
    )
    try:
        document = read_document(text if text.strip() else BUILT_IN)
        builder = Builder(catalogue, options.handle_for)
        builder.build_all(document.plugins)
        assembly = assemble(document, builder, options.metrics)
    except ConfigError as error:
        raise error.within(source=source) from None
    if document.flow_control and not assembly.feature_gates["flowControl"]:
        getLogger(__name__).warning("flowControl has no effect while its feature gate is off", extra={"fields": {"source": source}})
    return assembly
