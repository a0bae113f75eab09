"""What a document must not say, beyond its types."""

from collections.abc import Sequence
from logging import getLogger
from typing import TypeVar

from router.engine.config.build import Builder
from router.engine.config.schema import FlowControl, ProfileSpec, policy_references
from router.engine.scheduling.profile import Profile, WeightedScorer
from router.framework.control import Admitter, DataProducer, PreRequest, ResponseBody, ResponseHeaders, Screener
from router.framework.errors import ConfigError
from router.framework.flow import FairnessPolicy, OrderingPolicy, UsageLimitPolicy
from router.framework.plugin import Plugin
from router.framework.scheduling import Filter, Picker, ProfileHandler, Scorer

P = TypeVar("P")

SINGLE_PROFILE_HANDLERS = ("single-profile-handler", "data-parallel-profile-handler")
_REQUEST_ROLES = (Admitter, DataProducer, PreRequest, ResponseBody, ResponseHeaders, Screener)
_POLICY_ROLES = {"fairnessPolicyRef": FairnessPolicy, "orderingPolicyRef": OrderingPolicy, "usageLimitPolicyPluginRef": UsageLimitPolicy}


def role(plugin: Plugin, kind: type[P], *, field: str) -> P:
    """`plugin` as a `kind`. Raises ConfigError when it does not play that role."""
    if not isinstance(plugin, kind):
        raise ConfigError(f'"{plugin.name}" (type {plugin.type_name}) is not {_words(kind)}', field=field)
    return plugin


def profile_names(profiles: Sequence[ProfileSpec]) -> None:
    """Every profile has a name of its own."""
    seen: set[str] = set()
    for index, profile in enumerate(profiles):
        if not profile.name:
            raise ConfigError("required, but not given", field=f"schedulingProfiles[{index}].name")
        if profile.name in seen:
            raise ConfigError(f'two profiles are named "{profile.name}"', field="schedulingProfiles")
        seen.add(profile.name)


def profile_handler(builder: Builder, profile_count: int) -> ProfileHandler:
    """The one profile handler; it must fit the number of profiles."""
    handlers = [plugin for plugin in builder.plugins.values() if isinstance(plugin, ProfileHandler)]
    if len(handlers) > 1:
        raise ConfigError(f"more than one profile handler: {', '.join(handler.name for handler in handlers)}", field="plugins")
    if not handlers:
        raise ConfigError(f"{profile_count} profiles need a profile handler, and none is configured", field="plugins")
    if handlers[0].type_name in SINGLE_PROFILE_HANDLERS and profile_count > 1:
        raise ConfigError(f"runs one profile, but {profile_count} are configured", plugin=handlers[0].name)
    return handlers[0]


def profile(spec: ProfileSpec, builder: Builder) -> Profile:
    """The runnable form of a profile whose members all fit."""
    filters: list[Filter] = []
    scorers: list[WeightedScorer] = []
    pickers: list[Picker] = []
    for index, member in enumerate(spec.plugins):
        place = f'schedulingProfiles["{spec.name}"].plugins[{index}].pluginRef'
        plugin = builder.find(member.plugin_ref, field=place)
        if isinstance(plugin, Filter):
            filters.append(plugin)
        if isinstance(plugin, Scorer):
            scorers.append(WeightedScorer(scorer=plugin, weight=1.0 if member.weight is None else member.weight))
        if isinstance(plugin, Picker):
            pickers.append(plugin)
        if not isinstance(plugin, Filter | Scorer | Picker):
            _tolerate(plugin, place)
    if len(pickers) > 1:
        names = ", ".join(picker.name for picker in pickers)
        raise ConfigError(f"two pickers in one profile: {names}", field=f'schedulingProfiles["{spec.name}"]')
    return Profile(spec.name, filters=filters, scorers=scorers, picker=pickers[0])


def flow_control(flow: FlowControl | None, builder: Builder) -> None:
    """The policies a flow control section names exist and are policies. Their queues do not exist yet."""
    if flow is None:
        return
    for field, name in policy_references(flow):
        place = f"flowControl.{field}"
        role(builder.find(name, field=place, automatic=True), _POLICY_ROLES[field.rpartition(".")[2]], field=place)


def _tolerate(plugin: Plugin, field: str) -> None:
    """A plugin that works by being configured may be listed in a profile, where it does nothing more; any other may not."""
    if not isinstance(plugin, _REQUEST_ROLES):
        raise ConfigError(f'"{plugin.name}" (type {plugin.type_name}) is not a filter, scorer or picker', field=field)
    getLogger(__name__).warning("plugin has no effect in a profile", extra={"fields": {"plugin": plugin.name, "field": field}})


def _words(kind: type[object]) -> str:
    """`SaturationDetector` as "a saturation detector"."""
    words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in kind.__name__).strip()
    return f"an {words}" if words[0] in "aeiou" else f"a {words}"
