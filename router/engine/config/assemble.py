"""What a configuration becomes: plugin instances sorted into the places where the engine calls them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from router.engine.config import data_graph, defaults, validate
from router.engine.config.build import Builder
from router.engine.config.schema import Document, Reference, SourceSpec, feature_gates
from router.engine.scheduling.scheduler import Scheduler
from router.framework.collecting import DataSource, Extractor
from router.framework.control import (
    Admitter,
    DataProducer,
    EndpointListener,
    HeaderProcessor,
    PreRequest,
    ResponseBody,
    ResponseHeaders,
    Screener,
)
from router.framework.errors import ConfigError
from router.framework.flow import SaturationDetector
from router.framework.parsing import Parser
from router.framework.plugin import Plugin
from router.metrics.scheduling import SchedulingMetrics

R = TypeVar("R")

# Accepted in `dataLayer.sources`, where it has nothing to do: plugins that follow endpoints are told of them anyway.
NOTIFICATION_SOURCE = "endpoint-notification-source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """Everything the engine runs, in the order it runs it."""

    plugins: Mapping[str, Plugin]  # by name, configuration order, automatic ones last
    parsers: tuple[Parser, ...]
    header_processors: tuple[HeaderProcessor, ...] = ()
    screeners: tuple[Screener, ...] = ()
    producers: tuple[DataProducer, ...] = ()  # dependency order
    admitters: tuple[Admitter, ...] = ()
    pre_request: tuple[PreRequest, ...] = ()
    response_headers: tuple[ResponseHeaders, ...] = ()
    response_body: tuple[ResponseBody, ...] = ()
    listeners: tuple[EndpointListener, ...] = ()
    sources: tuple[tuple[DataSource, tuple[Extractor, ...]], ...] = ()
    saturation_detector: SaturationDetector
    scheduler: Scheduler
    discovery: Plugin | None = None
    feature_gates: Mapping[str, bool]


def assemble(document: Document, builder: Builder, metrics: SchedulingMetrics) -> Assembly:
    """Fill in defaults, check, and sort plugins into their places. `builder` holds the plugins that the document lists."""
    gates = feature_gates(document)
    scheduler = _scheduler(document, builder, metrics)
    defaults.policies(builder)
    validate.flow_control(document.flow_control, builder)
    parsers = _parsers(defaults.parsers(document), builder)
    detector = _saturation_detector(defaults.saturation_detector(document), builder)
    sources = _sources(defaults.sources(document.data_layer, builder), builder)
    discovery = document.data_layer.discovery
    finder = builder.find(discovery.plugin, field="dataLayer.discovery.pluginRef") if discovery else None
    data_graph.complete(builder)
    data_graph.check(builder.plugins.values())
    plugins = builder.plugins
    return Assembly(
        plugins=plugins,
        parsers=parsers,
        header_processors=_playing(plugins, HeaderProcessor),
        screeners=_playing(plugins, Screener),
        producers=data_graph.order(_playing(plugins, DataProducer)),
        admitters=_playing(plugins, Admitter),
        pre_request=_playing(plugins, PreRequest),
        response_headers=_playing(plugins, ResponseHeaders),
        response_body=_playing(plugins, ResponseBody),
        listeners=_playing(plugins, EndpointListener),
        sources=sources,
        saturation_detector=detector,
        scheduler=scheduler,
        discovery=finder,
        feature_gates=gates,
    )


def _scheduler(document: Document, builder: Builder, metrics: SchedulingMetrics) -> Scheduler:
    validate.profile_names(document.scheduling_profiles)
    specs = defaults.profiles(document, builder)
    defaults.profile_handler(len(specs), builder)
    handler = validate.profile_handler(builder, len(specs))
    profiles = {spec.name: validate.profile(spec, builder) for spec in specs}
    return Scheduler(profiles=profiles, handler=handler, clock=builder.handle.clock, metrics=metrics)


def _playing(plugins: Mapping[str, Plugin], role: type[R]) -> tuple[R, ...]:
    return tuple(plugin for plugin in plugins.values() if isinstance(plugin, role))


def _parsers(references: Sequence[Reference], builder: Builder) -> tuple[Parser, ...]:
    if not references:
        raise ConfigError("no parser is left", field="requestHandler.parsers")
    place = "requestHandler.parsers[{}].pluginRef"
    return tuple(
        validate.role(builder.find(reference.plugin_ref, field=place.format(index), automatic=True), Parser, field=place.format(index))
        for index, reference in enumerate(references)
    )


def _saturation_detector(reference: Reference, builder: Builder) -> SaturationDetector:
    place = "flowControl.saturationDetector.pluginRef"
    found = builder.find(reference.plugin_ref, field=place, automatic=reference.plugin_ref == defaults.SATURATION_DETECTOR)
    return validate.role(found, SaturationDetector, field=place)


def _sources(specs: Sequence[SourceSpec], builder: Builder) -> tuple[tuple[DataSource, tuple[Extractor, ...]], ...]:
    sources: list[tuple[DataSource, tuple[Extractor, ...]]] = []
    for index, spec in enumerate(specs):
        place = f"dataLayer.sources[{index}]"
        source = builder.find(spec.plugin_ref, field=f"{place}.pluginRef")
        places = [f"{place}.extractors[{number}].pluginRef" for number in range(len(spec.extractors))]
        readers = [builder.find(item.plugin_ref, field=where) for item, where in zip(spec.extractors, places, strict=True)]
        if source.type_name == NOTIFICATION_SOURCE:
            for reader, where in zip(readers, places, strict=True):
                validate.role(reader, EndpointListener, field=where)
        else:
            extractors = tuple(validate.role(reader, Extractor, field=where) for reader, where in zip(readers, places, strict=True))
            sources.append((validate.role(source, DataSource, field=f"{place}.pluginRef"), extractors))
    return tuple(sources)
