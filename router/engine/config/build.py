"""Makes plugin instances from their entries in a document, with the registry as catalogue."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from logging import getLogger
from typing import Any

from router.engine.config.schema import PluginSpec
from router.framework.errors import ConfigError
from router.framework.parameters import decode, nearest, plugin_references
from router.framework.plugin import Entry, Handle, Plugin, Stability


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """The plugin types that can be built, and those that are known but cannot yet."""

    entries: Mapping[str, Entry]
    aliases: Mapping[str, str]  # deprecated type -> type
    unbuilt: frozenset[str]
    allow_experimental: bool = False

    def entry(self, type_name: str) -> Entry:
        """The row of a type. Raises ConfigError."""
        entry = self.entries.get(type_name)
        if entry is None and type_name in self.unbuilt:
            raise ConfigError(f'plugin type "{type_name}" is known but not built yet', field="type")
        if entry is None:
            raise ConfigError(f'plugin type "{type_name}" is unknown{nearest(type_name, [*self.entries, *self.unbuilt])}', field="type")
        if entry.stability is Stability.ALPHA and not self.allow_experimental:
            raise ConfigError(f'plugin type "{type_name}" is experimental; start with --allow-experimental-plugins', field="type")
        return entry


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decoded:
    name: str
    entry: Entry
    parameters: Any


class Builder:
    """Holds the plugins built so far, by name; automatic ones are added in the order they are asked for."""

    def __init__(self, catalogue: Catalogue, handle_for: Callable[[Mapping[str, Plugin]], Handle]) -> None:
        self.catalogue = catalogue
        self.plugins: dict[str, Plugin] = {}
        self.handle = handle_for(self.plugins)
        self._log = getLogger(__name__)

    def build_all(self, specs: Sequence[PluginSpec]) -> None:
        """Build what a document lists; a plugin that others name in their parameters comes before them. Raises ConfigError."""
        decoded: dict[str, _Decoded] = {}
        for index, spec in enumerate(map(self._canonical, specs)):
            if not spec.type:
                raise ConfigError("required, but not given", field=f"plugins[{index}].type")
            if spec.name in decoded:
                raise ConfigError("two plugins have this name", plugin=spec.name, field="name")
            decoded[spec.name] = self._decode(spec)
        built: dict[str, Plugin] = {}
        for name in _construction_order(decoded):
            built[name] = self.plugins[name] = self._construct(decoded[name])
        self.plugins.clear()
        self.plugins.update((name, built[name]) for name in decoded)

    def ensure(self, type_name: str) -> Plugin:
        """The plugin named like its type; built with defaults unless it exists. Raises ConfigError."""
        plugin = self.plugins.get(type_name)
        if plugin is None:
            plugin = self._construct(self._decode(PluginSpec(type=type_name, name=type_name)))
            self.plugins[type_name] = plugin
            self._log.info("plugin added automatically", extra={"fields": {"plugin": type_name}})
        elif plugin.type_name != type_name:
            raise ConfigError(f'the name "{type_name}" is needed for a plugin of that type, not of {plugin.type_name}', plugin=type_name)
        return plugin

    def find(self, reference: str, *, field: str, automatic: bool = False) -> Plugin:
        """The plugin a reference names. `automatic`: a type's own name builds it with defaults. Raises ConfigError."""
        if not reference:
            raise ConfigError("required, but not given", field=field)
        name = reference if reference in self.plugins else self.catalogue.aliases.get(reference, reference)
        if name in self.plugins:
            return self.plugins[name]
        if automatic and (name in self.catalogue.entries or name in self.catalogue.unbuilt):
            return self.ensure(name)
        raise ConfigError(f'names plugin "{reference}", which is not configured{nearest(reference, list(self.plugins))}', field=field)

    def _canonical(self, spec: PluginSpec) -> PluginSpec:
        """The spec with its present type and its name filled in; a plugin named only by an old type gets the new one's name."""
        current = self.catalogue.aliases.get(spec.type)
        if current is not None:
            self._log.warning("deprecated plugin type", extra={"fields": {"type": spec.type, "use": current}})
        type_name = current or spec.type
        return replace(spec, type=type_name, name=spec.name or type_name)

    def _decode(self, spec: PluginSpec) -> _Decoded:
        try:
            entry = self.catalogue.entry(spec.type)
            if entry.stability is Stability.DEPRECATED:
                self._log.warning("deprecated plugin type", extra={"fields": {"type": spec.type, "use": entry.replaced_by}})
            return _Decoded(name=spec.name, entry=entry, parameters=decode(entry.parameters, spec.parameters))
        except ConfigError as error:
            place = "" if error.field == "type" else "parameters"
            raise error.within(plugin=spec.name, field=place) from None

    def _construct(self, decoded: _Decoded) -> Plugin:
        try:
            plugin = decoded.entry.build(decoded.name, decoded.parameters, self.handle)
        except ConfigError as error:
            raise error.within(plugin=decoded.name, field="parameters") from None
        plugin.type_name = decoded.entry.type_name
        return plugin


def _construction_order(decoded: Mapping[str, _Decoded]) -> list[str]:
    """Names so that a plugin follows those it refers to, otherwise as listed. Raises ConfigError for a cycle or an unknown name."""
    order: list[str] = []
    path: list[str] = []

    def visit(name: str) -> None:
        if name in path:
            raise ConfigError(f"plugins refer to each other in a circle: {' → '.join([*path[path.index(name) :], name])}", plugin=name)
        if name in order:
            return
        path.append(name)
        for reference in plugin_references(decoded[name].parameters):
            if reference not in decoded:
                raise ConfigError(f'depends on unknown plugin "{reference}"{nearest(reference, list(decoded))}', plugin=name)
            visit(reference)
        order.append(path.pop())

    for name in decoded:
        visit(name)
    return order
