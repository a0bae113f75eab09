"""What every plugin has: a name, declared data, and a handle to the process around it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import Any

from router.framework.attributes.key import DataKey
from router.framework.compat import Compat
from router.metrics.plugins import PluginMetrics

Clock = Callable[[], float]  # monotonic seconds


class Stability(Enum):
    """How settled a plugin type is. ALPHA needs `--allow-experimental-plugins`; DEPRECATED logs a line."""

    BETA = "beta"
    ALPHA = "alpha"
    DEPRECATED = "deprecated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumes:
    """Keys a plugin reads. A required key without producer gets the default producer of its data type."""

    required: frozenset[DataKey[Any]] = frozenset()
    optional: frozenset[DataKey[Any]] = frozenset()


class Handle:
    """The process as a plugin may see it; passed to every constructor."""

    def __init__(
        self, *, clock: Clock, random: Random, metrics: PluginMetrics, plugins: Mapping[str, "Plugin"], compat: Compat | None = None
    ) -> None:
        self.clock = clock
        self.random = random
        self.metrics = metrics
        self.compat = compat or Compat()
        self._plugins = plugins

    def plugin(self, name: str) -> "Plugin | None":
        """A plugin built earlier; only those named in parameters are guaranteed to be."""
        return self._plugins.get(name)


class Plugin:
    """Root of all roles. Subclasses take `(name, parameters, handle)`; `parameters` is the module's `Parameters`."""

    type_name: str = ""  # the config type, set by the engine's loader from the registry

    def __init__(self, name: str) -> None:
        self.name = name

    def consumes(self) -> Consumes:
        """Keys this plugin reads; asked once, after all plugins are built."""
        return Consumes()

    def produces(self) -> frozenset[DataKey[Any]]:
        """Keys this plugin writes; asked once, after all plugins are built."""
        return frozenset()

    def ready(self) -> bool:
        """False keeps the engine's readiness NOT_SERVING."""
        return True

    def debug_state(self) -> Any | None:
        """A small JSON value for `/debug/plugins/state`; at most 100 entries; no prompts, hashes of prompts or client ids."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoParameters:
    """Parameters of a plugin that takes none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row of the registry.

    `build(name, parameters, handle)` is usually the class itself; `parameters` the dataclass it takes.
    """

    type_name: str  # as in a configuration document
    build: Callable[[str, Any, Handle], Plugin]
    parameters: type[Any] = NoParameters
    stability: Stability = Stability.BETA
    replaced_by: str = ""  # for a deprecated type
