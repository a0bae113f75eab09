"""What a document may leave out."""

from collections.abc import Iterable
from dataclasses import replace

from router.engine.config.build import Builder
from router.engine.config.schema import DataLayer, Document, ProfilePlugin, ProfileSpec, Reference, SourceSpec
from router.framework.plugin import Plugin
from router.framework.scheduling import Filter, Picker, ProfileHandler, Scorer

# Used when no document is given at all.
BUILT_IN = """
apiVersion: llm-d.ai/v1
kind: EndpointPickerConfig
plugins:
- type: queue-scorer
- type: kv-cache-utilization-scorer
- type: prefix-cache-scorer
- type: metrics-data-source
- type: core-metrics-extractor
schedulingProfiles:
- name: default
  plugins:
  - {pluginRef: queue-scorer, weight: 2}
  - {pluginRef: kv-cache-utilization-scorer, weight: 2}
  - {pluginRef: prefix-cache-scorer, weight: 3}
"""

PROFILE = "default"
PROFILE_HANDLER = "single-profile-handler"
PICKER = "max-score-picker"
SATURATION_DETECTOR = "utilization-detector"
SOURCE, EXTRACTOR = "metrics-data-source", "core-metrics-extractor"
PARSERS = ("openai-parser", "anthropic-parser", "vllmhttp-parser", "passthrough-parser")
POLICIES = ("fcfs-ordering-policy", "global-strict-fairness-policy", "static-usage-limit-policy")


def profiles(document: Document, builder: Builder) -> tuple[ProfileSpec, ...]:
    """The profiles with pickers; without any, one that holds everything configured that a profile can hold."""
    given = document.scheduling_profiles
    if not given:
        members = [name for name, plugin in builder.plugins.items() if isinstance(plugin, Filter | Scorer | Picker)]
        given = (ProfileSpec(name=PROFILE, plugins=tuple(ProfilePlugin(plugin_ref=name) for name in members)),)
    return tuple(_with_picker(profile, builder) for profile in given)


def profile_handler(profile_count: int, builder: Builder) -> None:
    """Add the handler of a single profile where none is configured."""
    if profile_count == 1 and not any(isinstance(plugin, ProfileHandler) for plugin in builder.plugins.values()):
        builder.ensure(PROFILE_HANDLER)


def policies(builder: Builder) -> None:
    """Add the flow control policies that are always there."""
    for name in POLICIES:
        builder.ensure(name)


def saturation_detector(document: Document) -> Reference:
    """The detector that is named, or the default one."""
    flow = document.flow_control
    return flow.saturation_detector if flow and flow.saturation_detector else Reference(plugin_ref=SATURATION_DETECTOR)


def parsers(document: Document) -> tuple[Reference, ...]:
    """The parsers that are named, or the default ones."""
    return document.request_handler.parsers or tuple(Reference(plugin_ref=name) for name in PARSERS)


def sources(layer: DataLayer, builder: Builder) -> tuple[SourceSpec, ...]:
    """The sources, with the metrics source unless it is listed or unwanted."""
    if not layer.inject_defaults or any(source.plugin_ref == SOURCE for source in layer.sources):
        return layer.sources
    builder.ensure(SOURCE)
    builder.ensure(EXTRACTOR)
    return (*layer.sources, SourceSpec(plugin_ref=SOURCE, extractors=(Reference(plugin_ref=EXTRACTOR),)))


def _with_picker(profile: ProfileSpec, builder: Builder) -> ProfileSpec:
    if any(isinstance(builder.plugins.get(member.plugin_ref), Picker) for member in profile.plugins):
        return profile
    configured = _first_picker(builder.plugins.items())
    picker = configured or builder.ensure(PICKER).name
    return replace(profile, plugins=(*profile.plugins, ProfilePlugin(plugin_ref=picker)))


def _first_picker(plugins: Iterable[tuple[str, Plugin]]) -> str | None:
    return next((name for name, plugin in plugins if isinstance(plugin, Picker)), None)
