"""The shape of an `EndpointPickerConfig`, and how a text becomes one.

Field names and meanings are those of the two API versions in use; a document may use either shape.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from logging import getLogger
from typing import Any, cast

from router.engine.config.strict_yaml import parse_mapping
from router.framework.errors import ConfigError
from router.framework.parameters import Duration, Quantity, decode, nearest, plugin_reference, show, spelled

KIND = "EndpointPickerConfig"
API_VERSIONS = ("llm-d.ai/v1", "llm-d.ai/v1alpha1", "inference.networking.x-k8s.io/v1alpha1")
DEPRECATED_API_VERSION = API_VERSIONS[2]
GATES = {"flowControl": False, "haPopulateNonLeaderDatastore": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSpec:
    """One entry of `plugins`."""

    type: str = ""
    name: str = ""  # empty: the type
    parameters: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Names a configured plugin."""

    plugin_ref: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfilePlugin:
    """One entry of a profile."""

    plugin_ref: str = ""
    weight: float | None = None  # scorers only; None: 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSpec:
    """One scheduling profile."""

    name: str = ""
    plugins: tuple[ProfilePlugin, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSpec:
    """One source and the extractors that read what it brings."""

    plugin_ref: str = ""
    extractors: tuple[Reference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoverySpec:
    """Discovery by a plugin instead of Kubernetes: `pluginRef`, or `endpoints.pluginRef` in the newer shape, which wins."""

    plugin_ref: str = ""
    endpoints: Reference | None = None

    @property
    def plugin(self) -> str:
        """Name of the plugin."""
        return self.endpoints.plugin_ref if self.endpoints else self.plugin_ref


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossReplica:
    """Exchange between replicas, newer shape."""

    syncer_plugin_ref: str = ""
    sync_interval: Duration = 0.2
    publish_timeout: Duration = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DataLayer:
    """`dataLayer`."""

    inject_defaults: bool = True
    sources: tuple[SourceSpec, ...] = ()
    discovery: DiscoverySpec | None = None
    peer_discovery: Reference | None = None
    cross_replica_syncer_plugin_ref: str = ""
    cross_replica_sync_interval: Duration = 0.2
    cross_replica_publish_timeout: Duration = 0.0
    cross_replica: CrossReplica | None = None

    def __post_init__(self) -> None:
        """Refuse what several replicas would need."""
        syncer = self.cross_replica_syncer_plugin_ref or (self.cross_replica.syncer_plugin_ref if self.cross_replica else "")
        if syncer or self.peer_discovery:
            name = "peerDiscovery" if self.peer_discovery else "crossReplica"
            raise ConfigError("exchange between engine replicas is not built yet", field=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class BandTemplate:
    """Limits and policies of priority bands; a limit of 0 means the default."""

    max_bytes: Quantity = 0
    max_requests: Quantity = 0
    fairness_policy_ref: str = plugin_reference("global-strict-fairness-policy")
    ordering_policy_ref: str = plugin_reference("fcfs-ordering-policy")

    def __post_init__(self) -> None:
        """Limits are counts."""
        not_negative(maxBytes=self.max_bytes, maxRequests=self.max_requests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Band(BandTemplate):
    """One priority band."""

    priority: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowControl:
    """`flowControl`: kept, and without effect until queueing is built, but for the saturation detector."""

    max_bytes: Quantity = 0
    max_requests: Quantity = 0
    default_request_ttl: Duration = spelled("defaultRequestTTL", 60.0)  # noqa: RUF009 - a field
    no_endpoint_request_ttl: Duration | None = spelled("noEndpointRequestTTL", None)  # noqa: RUF009 - a field
    default_priority_band: BandTemplate = field(default_factory=BandTemplate)
    default_negative_priority_band: BandTemplate | None = None
    priority_bands: tuple[Band, ...] = ()
    usage_limit_policy_plugin_ref: str = plugin_reference("static-usage-limit-policy")
    saturation_detector: Reference | None = None
    enable_eviction: bool = False

    def __post_init__(self) -> None:
        """Limits are counts; a priority has one band."""
        not_negative(maxBytes=self.max_bytes, maxRequests=self.max_requests)
        priorities = [band.priority for band in self.priority_bands]
        for priority in priorities:
            if priorities.count(priority) > 1:
                raise ConfigError(f"priority {priority} is listed twice", field="priorityBands")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestHandler:
    """`requestHandler`."""

    parsers: tuple[Reference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A configuration document; `parser` and `saturation_detector` are older places of the same settings."""

    kind: str = ""
    api_version: str = ""
    feature_gates: tuple[str, ...] = ()
    plugins: tuple[PluginSpec, ...] = ()
    scheduling_profiles: tuple[ProfileSpec, ...] = ()
    data_layer: DataLayer = field(default_factory=DataLayer)
    flow_control: FlowControl | None = None
    request_handler: RequestHandler = field(default_factory=RequestHandler)
    saturation_detector: Reference | None = None
    parser: Reference | None = None


def read_document(text: str) -> Document:
    """Decode a YAML or JSON text. Raises ConfigError with the field."""
    raw = parse_mapping(text)
    _check_identity(raw)
    return _with_current_names(decode(Document, raw))


def feature_gates(document: Document) -> Mapping[str, bool]:
    """All known gates with their values. Raises ConfigError for an unknown one or a value that is no boolean."""
    gates = dict(GATES)
    for text in document.feature_gates:
        name, _, value = text.partition("=")
        if name not in GATES:
            raise ConfigError(f"gate {show(name)} is unknown{nearest(name, list(GATES))}", field="featureGates")
        if value not in {"", "true", "false"} or text.endswith("="):
            raise ConfigError(f"{show(text)} is not NAME, NAME=true or NAME=false", field="featureGates")
        gates[name] = value != "false"
    if gates["flowControl"]:
        raise ConfigError("flowControl is not built yet; leave the gate out", field="featureGates")
    return gates


def not_negative(**values: int) -> None:
    """Raises ConfigError for the first value below zero."""
    for name, value in values.items():
        if value < 0:
            raise ConfigError(f"{value} is negative", field=name)


def _check_identity(raw: Mapping[str, Any]) -> None:
    if raw.get("kind") != KIND:
        raise ConfigError(f"{show(raw.get('kind'))} is not {KIND!r}", field="kind")
    version = raw.get("apiVersion")
    if version not in API_VERSIONS:
        raise ConfigError(f"{show(version)} is not one of {', '.join(map(repr, API_VERSIONS))}", field="apiVersion")
    if version == DEPRECATED_API_VERSION:
        getLogger(__name__).warning("deprecated apiVersion", extra={"fields": {"apiVersion": version, "use": API_VERSIONS[0]}})


def _with_current_names(document: Document) -> Document:
    """Move deprecated fields to their present places, which win."""
    detector, parser = document.saturation_detector, document.parser
    flow = document.flow_control or FlowControl()
    if detector and flow.saturation_detector is None:
        document = replace(document, flow_control=replace(flow, saturation_detector=detector))
    if parser and not document.request_handler.parsers:
        document = replace(document, request_handler=RequestHandler(parsers=(parser,)))
    return document


def policy_references(flow: FlowControl) -> list[tuple[str, str]]:
    """(field, plugin name) of every policy that a flow control section names."""
    bands = [("defaultPriorityBand", flow.default_priority_band)]
    if flow.default_negative_priority_band:
        bands.append(("defaultNegativePriorityBand", flow.default_negative_priority_band))
    bands += [(f"priorityBands[{index}]", cast("BandTemplate", band)) for index, band in enumerate(flow.priority_bands)]
    named = [(f"{place}.fairnessPolicyRef", band.fairness_policy_ref) for place, band in bands]
    named += [(f"{place}.orderingPolicyRef", band.ordering_policy_ref) for place, band in bands]
    return [*named, ("usageLimitPolicyPluginRef", flow.usage_limit_policy_plugin_ref)]
