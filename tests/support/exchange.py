"""An engine's exchange with fakes where plugins and scheduler would be."""

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any
from uuid import UUID

from prometheus_client import CollectorRegistry

from router.engine.control.candidates import Candidates
from router.engine.control.director import Collaborators, Director
from router.engine.control.model_rewrite import ModelRewrite, NoRules, RewriteRules
from router.engine.control.objectives import NoPriorities, Objectives, Priorities
from router.engine.control.stages import StagePlugins, Stages
from router.engine.datalayer.endpoints import Endpoints
from router.engine.extproc.exchange import Exchange, Services
from router.engine.extproc.parsers import ParserTable
from router.engine.extproc.random_route import RandomRoute
from router.engine.flowcontrol.admission import ShedWhenSaturated
from router.framework.compat import Compat
from router.framework.control import PreRequest, ResponseBody, ResponseProgress
from router.framework.endpoint import Endpoint, EndpointMetadata
from router.framework.flow import SaturationDetector
from router.framework.parsing import Parser
from router.framework.plugin import Clock, Handle, NoParameters
from router.framework.request import InferenceRequest
from router.framework.scheduling import ProfileResult, SchedulingResult
from router.metrics.requests import RequestMetrics
from router.metrics.scheduling import SchedulingMetrics
from router.plugins.parsers.anthropic_parser import AnthropicParser
from router.plugins.parsers.openai_parser import OpenaiParser
from router.plugins.parsers.passthrough_parser import PassthroughParser
from router.plugins.parsers.vllmhttp_parser import VllmhttpParser
from tests.support.engine import make_handle


class CountingBooks(PreRequest, ResponseBody):
    """Books one unit a request and releases it at the end; keeps every step it is told of."""

    def __init__(self, name: str = "books", *, every_chunk: bool = False) -> None:
        super().__init__(name)
        self.every_chunk = every_chunk
        self.open: dict[str, Endpoint] = {}
        self.steps: list[ResponseProgress] = []
        self.failure: Exception | None = None  # raised after booking
        self.metadata: dict[str, Any] | None = None
        self.adds: dict[str, str] = {}

    async def before_request(self, request: InferenceRequest, result: SchedulingResult) -> None:
        self.open[request.id] = result.target
        request.headers.update(self.adds)
        if self.failure is not None:
            raise self.failure

    def on_progress(self, request: InferenceRequest, result: SchedulingResult, progress: ResponseProgress) -> dict[str, Any] | None:
        self.steps.append(progress)
        if progress.cause is not None:
            del self.open[request.id]
        return self.metadata

    @property
    def causes(self) -> list[str]:
        return [step.cause.value for step in self.steps if step.cause is not None]


@dataclass
class FakeScheduler:
    """Takes the first candidate, or fails as told."""

    failure: Exception | None = None
    seen: list[InferenceRequest] = field(default_factory=list[InferenceRequest])
    scores: Mapping[str, float] = field(default_factory=dict[str, float])

    def schedule(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> SchedulingResult:
        self.seen.append(request)
        if self.failure is not None:
            raise self.failure
        scores = {endpoint: self.scores.get(endpoint.metadata.name, 0.0) for endpoint in endpoints}
        return SchedulingResult(profiles={"default": ProfileResult(targets=(endpoints[0],), scores=scores)}, primary="default")


class FixedSaturation(SaturationDetector):
    """As saturated as it says."""

    def __init__(self, value: float = 0.0) -> None:
        super().__init__("saturation")
        self.value = value

    def saturation(self, endpoints: Sequence[Endpoint]) -> float:
        return self.value


def endpoint_metadata(
    name: str = "a", address: str = "127.0.0.1", port: int = 8000, labels: Mapping[str, str] | None = None
) -> EndpointMetadata:
    """An endpoint of a pool."""
    return EndpointMetadata(id=f"default/{name}", name=name, namespace="default", address=address, port=port, labels=labels or {})


@dataclass
class Rig:
    """An engine's request path, and what a test may look at."""

    services: Services
    endpoints: Endpoints
    books: CountingBooks
    scheduler: FakeScheduler
    registry: CollectorRegistry
    saturation: FixedSaturation

    def exchange(self) -> Exchange:
        return Exchange(self.services)

    def value(self, name: str, **labels: str) -> float:
        """Sum of a metric's samples that carry these labels."""
        samples = [sample for metric in self.registry.collect() for sample in metric.samples if sample.name == name]
        return sum(sample.value for sample in samples if labels.items() <= sample.labels.items())


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What a test may want otherwise."""

    reference: bool = False
    clock: Clock = time.monotonic
    plugins: StagePlugins = field(default_factory=StagePlugins)  # besides the books
    rules: RewriteRules = field(default_factory=NoRules)
    priorities: Priorities = field(default_factory=NoPriorities)
    ignore_subset: bool = False
    emit_scores: bool = False
    books: CountingBooks = field(default_factory=CountingBooks)


def make_rig(*members: EndpointMetadata, choices: Choices | None = None) -> Rig:
    """A request path with real mechanism and fake policy."""
    wanted = choices or Choices()
    compat, registry, endpoints = Compat(reference=wanted.reference), CollectorRegistry(), Endpoints()
    endpoints.replace_all(members)
    scheduler, saturation, books = FakeScheduler(), FixedSaturation(), wanted.books
    stages = Stages(_with_books(wanted.plugins, books), clock=wanted.clock, metrics=SchedulingMetrics(registry))
    candidates = Candidates(endpoints, ignore_subset=wanted.ignore_subset)
    collaborators = Collaborators(
        rewrite=ModelRewrite(wanted.rules),
        objectives=Objectives(wanted.priorities),
        stages=stages,
        admission=ShedWhenSaturated(saturation),
        candidates=candidates,
        scheduler=scheduler,
    )
    services = Services(
        director=Director(collaborators),
        stages=stages,
        parsers=ParserTable(make_parsers(compat), whole_segments=not wanted.reference),
        random_route=RandomRoute(candidates, random=Random(1), compat=compat),
        metrics=RequestMetrics(registry),
        clock=wanted.clock,
        new_id=_counting(),
        new_request_id=lambda: str(UUID(int=5)),
        compat=compat,
        emit_scores=wanted.emit_scores,
    )
    return Rig(services, endpoints, books, scheduler, registry, saturation)


def make_parsers(compat: Compat | None = None) -> list[Parser]:
    """The parsers of the default configuration."""
    kinds: tuple[Callable[[str, NoParameters, Handle], Parser], ...] = (OpenaiParser, AnthropicParser, VllmhttpParser, PassthroughParser)
    names = ("openai-parser", "anthropic-parser", "vllmhttp-parser", "passthrough-parser")
    handle = make_handle(compat=compat)
    return [kind(name, NoParameters(), handle) for kind, name in zip(kinds, names, strict=True)]


def _with_books(plugins: StagePlugins, books: CountingBooks) -> StagePlugins:
    return StagePlugins(
        header_processors=plugins.header_processors,
        screeners=plugins.screeners,
        producers=plugins.producers,
        admitters=plugins.admitters,
        pre_request=(books, *plugins.pre_request),
        response_headers=plugins.response_headers,
        response_body=(books, *plugins.response_body),
    )


def _counting() -> Any:
    numbers = itertools.count(1)
    return lambda: str(next(numbers))
