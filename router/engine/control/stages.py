"""Calls plugins at the points of a request's life: order, time budget, metrics and error policy, in one place."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from router.engine.control.budget import within
from router.framework.attributes.key import DataKey
from router.framework.control import (
    Admitter,
    DataProducer,
    HeaderProcessor,
    PreRequest,
    ResponseBody,
    ResponseHeaders,
    ResponseProgress,
    Screener,
)
from router.framework.endpoint import Endpoint
from router.framework.errors import ErrorCode, RequestError
from router.framework.parsing import Parser, Payload
from router.framework.plugin import Clock, Plugin
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult
from router.metrics.scheduling import Observe, SchedulingMetrics

P = TypeVar("P", bound=Plugin)
Key = DataKey[Any]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePlugins:
    """Plugins by stage, each in the order they are called."""

    header_processors: tuple[HeaderProcessor, ...] = ()
    screeners: tuple[Screener, ...] = ()
    producers: tuple[DataProducer, ...] = ()
    admitters: tuple[Admitter, ...] = ()
    pre_request: tuple[PreRequest, ...] = ()
    response_headers: tuple[ResponseHeaders, ...] = ()
    response_body: tuple[ResponseBody, ...] = ()


@dataclass(frozen=True, slots=True)
class _Call(Generic[P]):
    """A plugin and the recorder of its time."""

    plugin: P
    observe: Observe


@dataclass(frozen=True, slots=True)
class _Producing:
    """A producer with what it reads and writes, asked for once: it is the same for every request."""

    plugin: DataProducer
    observe: Observe
    writes: frozenset[Key]
    depends_on: frozenset[Key]  # a value that is missing here keeps it from running
    steps: frozenset[str]  # those it has something to do in


class Stages:
    """The plugin calls of a request, from its headers to the end of its response."""

    def __init__(self, plugins: StagePlugins, *, clock: Clock, metrics: SchedulingMetrics, stop_at_failed_producer: bool = False) -> None:
        """`stop_at_failed_producer`: later producers are not run after one failed, as in the reference."""
        self._clock = clock
        self._metrics = metrics
        self._stop_at_failed_producer = stop_at_failed_producer

        def calls(point: str, members: Sequence[P]) -> tuple[_Call[P], ...]:
            return tuple(_Call(member, metrics.plugin_duration(point, member.type_name, member.name)) for member in members)

        self._header_processors = calls("RequestHeader", plugins.header_processors)
        self._screeners = calls("Screener", plugins.screeners)
        self._producers = tuple(_producing(call) for call in calls("DataProducer", plugins.producers))
        self._admitters = calls("Admission", plugins.admitters)
        self._pre_request = calls("PreRequest", plugins.pre_request)
        self._response_headers = calls("ResponseReceived", plugins.response_headers)
        self._response_body = calls("ResponseStreaming", plugins.response_body)
        self.every_chunk = any(member.every_chunk for member in plugins.response_body)

    def parse(self, parser: Parser, body: bytes, path: str, headers: Mapping[str, str]) -> Payload:
        """Have a request's body read. Raises RequestError when it cannot be."""
        begin = self._clock()
        try:
            return parser.parse(body, path, headers)
        finally:
            self._metrics.plugin_duration("RequestParsing", parser.type_name, parser.name)(self._clock() - begin)

    def response_parsing(self, parser: Parser) -> Observe:
        """The recorder of the time a parser's readers spend on one response."""
        return self._metrics.plugin_duration("ResponseParsing", parser.type_name, parser.name)

    async def process_headers(self, request: InferenceRequest) -> None:
        """Run header processors; the first error refuses the request."""
        for call in self._header_processors:
            begin = self._clock()
            try:
                await call.plugin.process_headers(request)
            finally:
                call.observe(self._clock() - begin)

    def screen(self, request: InferenceRequest, candidates: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """What every screener leaves, in order. Raises RequestError when nothing is left."""
        survivors = candidates
        for call in self._screeners:
            begin = self._clock()
            kept = set(call.plugin.screen(request, candidates))
            call.observe(self._clock() - begin)
            survivors = [endpoint for endpoint in survivors if endpoint in kept]
        if not survivors:
            raise RequestError(ErrorCode.ServiceUnavailable, "screeners eliminated all endpoint candidates")
        return survivors

    async def produce(self, request: InferenceRequest, payload: Payload, candidates: Sequence[Endpoint]) -> None:
        """Run producers: first what reads the body, then what reads candidates.

        A failed producer does not refuse the request. What needs its values is skipped, the others run.
        """
        missing: set[Key] = set()
        for step, subject in (("prepare", payload), ("produce", candidates)):
            for producing in self._producers:
                if not await self._step(producing, step, missing, request, subject):
                    missing |= producing.writes
                    if self._stop_at_failed_producer:
                        return

    async def admit(self, request: InferenceRequest, candidates: Sequence[Endpoint]) -> None:
        """Ask the admitters; one denial refuses the request with its code, an unexpected error with 500."""
        for call in self._admitters:
            begin = self._clock()
            try:
                await call.plugin.admit(request, candidates)
            except RequestError:
                raise
            except Exception as error:
                log.exception("admitter failed", extra={"fields": _who(call.plugin, request)})
                raise RequestError(ErrorCode.Internal, f"request cannot be admitted: {error}") from error
            finally:
                call.observe(self._clock() - begin)

    async def before_request(self, request: InferenceRequest, result: SchedulingResult) -> None:
        """Run all pre-request plugins, then refuse the request if any failed."""
        failures: list[Exception] = []
        for call in self._pre_request:
            begin = self._clock()
            try:
                await call.plugin.before_request(request, result)
            except Exception as error:
                log.exception("pre-request plugin failed", extra={"fields": _who(call.plugin, request)})
                failures.append(error)
            finally:
                call.observe(self._clock() - begin)
        if len(failures) == 1 and isinstance(failures[0], RequestError):
            raise failures[0]
        if failures:
            raise RequestError(ErrorCode.Internal, "; ".join(str(failure) for failure in failures))

    async def response_headers(self, request: InferenceRequest, result: SchedulingResult) -> dict[str, str]:
        """Headers that plugins add to the response; a failing plugin adds none."""
        added: dict[str, str] = {}
        for call in self._response_headers:
            begin = self._clock()
            try:
                await call.plugin.on_response_headers(request, result, added)
            except Exception:
                log.exception("response header plugin failed", extra={"fields": _who(call.plugin, request)})
            call.observe(self._clock() - begin)
        return added

    def progress(self, request: InferenceRequest, result: SchedulingResult, progress: ResponseProgress) -> dict[str, Any]:
        """Tell response-body plugins of one step; every one hears it. Returns the dynamic metadata they attach."""
        attached: dict[str, Any] = {}
        between = not progress.first and progress.cause is None
        for call in self._response_body:
            if between and not call.plugin.every_chunk:
                continue
            begin = self._clock()
            try:
                attached.update(call.plugin.on_progress(request, result, progress) or {})
            except Exception:
                log.exception("response body plugin failed", extra={"fields": _who(call.plugin, request)})
            call.observe(self._clock() - begin)
        return attached

    async def _step(self, producing: _Producing, step: str, missing: set[Key], request: InferenceRequest, subject: Any) -> bool:
        """One step of one producer; False: its values are not there."""
        if missing and not missing.isdisjoint(producing.depends_on):
            return False
        if step not in producing.steps:
            return True
        plugin = producing.plugin
        begin = self._clock()
        try:
            await within(plugin.budget_seconds, getattr(plugin, step)(request, subject))
        except Exception:
            log.exception("producer failed", extra={"fields": {**_who(plugin, request), "step": step}})
            return False
        finally:
            producing.observe(self._clock() - begin)
        return True


def _producing(call: _Call[DataProducer]) -> _Producing:
    plugin, writes = call.plugin, call.plugin.produces()
    steps = frozenset(step for step in ("prepare", "produce") if getattr(type(plugin), step) is not getattr(DataProducer, step))
    return _Producing(plugin, call.observe, writes, plugin.consumes().required | writes, steps)


def _who(plugin: Plugin, request: InferenceRequest) -> dict[str, str]:
    return {"plugin": plugin.name, "request_id": request.external_id}
