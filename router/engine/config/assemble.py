"""What a configuration becomes: plugin instances sorted into the places where the engine calls them."""

from collections.abc import Mapping
from dataclasses import dataclass

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
from router.framework.flow import SaturationDetector
from router.framework.parsing import Parser
from router.framework.plugin import Plugin


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
