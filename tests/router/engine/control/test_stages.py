import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from router.engine.control.stages import StagePlugins, Stages
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
    TerminationCause,
)
from router.framework.endpoint import Endpoint
from router.framework.errors import ErrorCode, RequestError
from router.framework.parsing import Payload
from router.framework.plugin import Consumes
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult
from router.metrics.scheduling import SchedulingMetrics
from router.payloads.opaque import OpaquePayload
from tests.support.engine import FakeClock, candidate, candidates, inference_request, names_of, result_of
from tests.support.exchange import make_parsers

PAYLOAD = OpaquePayload(raw=b"body")
DENIAL = RequestError(ErrorCode.Forbidden, "no")
FAULT = ZeroDivisionError("broken")


def key(name: str) -> DataKey[int]:
    return DataKey("Number", name, int)


class Steps(HeaderProcessor, Admitter, PreRequest, ResponseHeaders, ResponseBody):
    """Plays every simple role, notes that it was called, and fails if told to."""

    def __init__(self, name: str, calls: list[str], failure: Exception | None = None, *, every_chunk: bool = False) -> None:
        super().__init__(name)
        self.type_name = "steps"
        self.calls = calls
        self.failure = failure
        self.every_chunk = every_chunk

    def _called(self) -> None:
        self.calls.append(self.name)
        if self.failure is not None:
            raise self.failure

    async def process_headers(self, request: InferenceRequest) -> None:
        self._called()

    async def admit(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> None:
        self._called()

    async def before_request(self, request: InferenceRequest, result: SchedulingResult) -> None:
        self._called()

    async def on_response_headers(self, request: InferenceRequest, result: SchedulingResult, added: dict[str, str]) -> None:
        added[self.name] = "added"
        self._called()

    def on_progress(self, request: InferenceRequest, result: SchedulingResult, progress: ResponseProgress) -> dict[str, Any] | None:
        self._called()
        return {self.name: {}}


class Producer(DataProducer):
    """Reads and writes the keys it is given."""

    def __init__(self, name: str, calls: list[str], *, needs: Sequence[str] = (), wants: Sequence[str] = ()) -> None:
        super().__init__(name)
        self.calls = calls
        self.failing = ""
        self._consumes = Consumes(required=frozenset(map(key, needs)), optional=frozenset(map(key, wants)))

    def consumes(self) -> Consumes:
        return self._consumes

    def produces(self) -> frozenset[DataKey[Any]]:
        return frozenset({key(self.name)})

    async def prepare(self, request: InferenceRequest, payload: Payload) -> None:
        await self._step("prepare")

    async def produce(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> None:
        await self._step("produce")

    async def _step(self, step: str) -> None:
        self.calls.append(f"{self.name} {step}")
        if self.failing == f"{step} stuck":
            await asyncio.Event().wait()
        if self.failing == step:
            raise FAULT


class Keep(Screener):
    """Lets the named endpoints pass."""

    def __init__(self, *kept: str) -> None:
        super().__init__("keep")
        self.kept = kept

    def screen(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        return [endpoint for endpoint in endpoints if endpoint.metadata.name in self.kept]


def stages(plugins: StagePlugins, registry: CollectorRegistry | None = None, *, stop: bool = False) -> Stages:
    metrics = SchedulingMetrics(registry or CollectorRegistry())
    return Stages(plugins, clock=FakeClock(), metrics=metrics, stop_at_failed_producer=stop)


async def test_header_processors_run_in_order_until_one_fails() -> None:
    calls: list[str] = []
    made = stages(StagePlugins(header_processors=(Steps("a", calls), Steps("b", calls, DENIAL), Steps("c", calls))))

    with pytest.raises(RequestError, match="no"):
        await made.process_headers(inference_request())

    assert calls == ["a", "b"]


def test_what_all_screeners_keep_survives_in_order() -> None:
    made = stages(StagePlugins(screeners=(Keep("c", "b", "a"), Keep("d", "b", "c"))))

    assert names_of(made.screen(inference_request(), candidates("a", "b", "c", "d"))) == ["b", "c"]


def test_no_survivor_is_unavailable() -> None:
    made = stages(StagePlugins(screeners=(Keep("a"), Keep("b"))))

    with pytest.raises(RequestError, match="screeners eliminated all endpoint candidates") as caught:
        made.screen(inference_request(), candidates("a", "b"))

    assert caught.value.code is ErrorCode.ServiceUnavailable


async def test_all_producers_prepare_before_the_first_produces() -> None:
    calls: list[str] = []
    made = stages(StagePlugins(producers=(Producer("a", calls), Producer("b", calls))))

    await made.produce(inference_request(), PAYLOAD, candidates("x"))

    assert calls == ["a prepare", "b prepare", "a produce", "b produce"]


@pytest.mark.parametrize("failing", ["prepare", "prepare stuck"])
async def test_what_needs_a_failed_producer_is_skipped_and_the_rest_runs(failing: str, caplog: pytest.LogCaptureFixture) -> None:
    calls: list[str] = []
    broken, needing = Producer("broken", calls), Producer("needing", calls, needs=["broken"])
    broken.failing, broken.budget_seconds = failing, 0.001
    chained, wanting = Producer("chained", calls, needs=["needing"]), Producer("wanting", calls, wants=["broken"])
    made = stages(StagePlugins(producers=(broken, needing, chained, wanting)))

    await made.produce(inference_request(), PAYLOAD, candidates("x"))

    assert calls == ["broken prepare", "wanting prepare", "wanting produce"]
    assert "producer failed" in caplog.text


async def test_producer_that_fails_late_spoils_what_needs_it() -> None:
    calls: list[str] = []
    broken = Producer("broken", calls)
    broken.failing = "produce"
    made = stages(StagePlugins(producers=(broken, Producer("needing", calls, needs=["broken"]), Producer("free", calls))))

    await made.produce(inference_request(), PAYLOAD, candidates("x"))

    assert calls[3:] == ["broken produce", "free produce"]


@pytest.mark.parametrize("failing", ["prepare", "produce"])
async def test_reference_stops_at_a_failed_producer(failing: str) -> None:
    calls: list[str] = []
    broken = Producer("broken", calls)
    broken.failing = failing
    made = stages(StagePlugins(producers=(broken, Producer("free", calls))), stop=True)

    await made.produce(inference_request(), PAYLOAD, candidates("x"))

    assert calls[-1] == f"broken {failing}"


async def test_cancelled_request_stops_its_producers() -> None:
    calls: list[str] = []
    stuck = Producer("stuck", calls)
    stuck.failing, stuck.budget_seconds = "prepare stuck", 60.0
    made = stages(StagePlugins(producers=(stuck, Producer("free", calls))))

    async with asyncio.TaskGroup() as group:
        task = group.create_task(made.produce(inference_request(), PAYLOAD, candidates("x")))
        await asyncio.sleep(0)
        task.cancel()

    assert task.cancelled()
    assert calls == ["stuck prepare"]


async def test_denial_keeps_its_code() -> None:
    made = stages(StagePlugins(admitters=(Steps("a", [], DENIAL),)))

    with pytest.raises(RequestError) as caught:
        await made.admit(inference_request(), candidates("x"))

    assert caught.value is DENIAL


async def test_fault_of_an_admitter_refuses_the_request() -> None:
    made = stages(StagePlugins(admitters=(Steps("a", [], FAULT),)))

    with pytest.raises(RequestError, match="request cannot be admitted: broken") as caught:
        await made.admit(inference_request(), candidates("x"))

    assert caught.value.code is ErrorCode.Internal


@pytest.mark.parametrize(
    ("failures", "code", "message"),
    [
        ((None, DENIAL, None), ErrorCode.Forbidden, "no"),
        ((FAULT, None, None), ErrorCode.Internal, "broken"),
        ((DENIAL, None, FAULT), ErrorCode.Internal, "Forbidden - no; broken"),
    ],
    ids=["typed", "fault", "both"],
)
async def test_all_pre_request_plugins_run_before_a_refusal(failures: Sequence[Exception | None], code: ErrorCode, message: str) -> None:
    calls: list[str] = []
    made = stages(StagePlugins(pre_request=tuple(Steps(name, calls, failure) for name, failure in zip("abc", failures, strict=True))))

    with pytest.raises(RequestError) as caught:
        await made.before_request(inference_request(), result_of(default=candidate()))

    assert calls == ["a", "b", "c"]
    assert (caught.value.code, caught.value.message) == (code, message)


async def test_response_headers_of_all_plugins_are_added() -> None:
    made = stages(StagePlugins(response_headers=(Steps("a", [], FAULT), Steps("b", []))))

    assert await made.response_headers(inference_request(), result_of(default=candidate())) == {"a": "added", "b": "added"}


def test_every_response_body_plugin_hears_of_the_end() -> None:
    calls: list[str] = []
    made = stages(StagePlugins(response_body=(Steps("a", calls, FAULT), Steps("b", calls))))

    attached = made.progress(
        inference_request(), result_of(default=candidate()), ResponseProgress(first=False, cause=TerminationCause.NATURAL)
    )

    assert calls == ["a", "b"]
    assert attached == {"b": {}}


@pytest.mark.parametrize(
    ("progress", "heard"),
    [
        (ResponseProgress(first=True), ["a", "b"]),
        (ResponseProgress(first=False), ["b"]),
        (ResponseProgress(first=False, cause=TerminationCause.ERROR), ["a", "b"]),
    ],
    ids=["first", "between", "end"],
)
def test_chunks_between_are_for_those_that_want_them(progress: ResponseProgress, heard: list[str]) -> None:
    calls: list[str] = []
    made = stages(StagePlugins(response_body=(Steps("a", calls), Steps("b", calls, every_chunk=True))))

    made.progress(inference_request(), result_of(default=candidate()), progress)

    assert calls == heard
    assert made.every_chunk


async def test_calls_are_timed_by_extension_point() -> None:
    registry = CollectorRegistry()
    made = stages(StagePlugins(header_processors=(Steps("a", []),)), registry)

    await made.process_headers(inference_request())

    labels = {"extension_point": "RequestHeader", "plugin_type": "steps", "plugin_name": "a"}
    assert registry.get_sample_value("llm_d_epp_plugin_duration_seconds_count", labels) == 1


async def test_producers_are_asked_once_what_they_read_and_write() -> None:
    asked: list[str] = []

    class Asked(DataProducer):
        def consumes(self) -> Consumes:
            asked.append("consumes")
            return Consumes()

        def produces(self) -> frozenset[DataKey[Any]]:
            asked.append("produces")
            return frozenset()

    made = stages(StagePlugins(producers=(Asked("a"),)))
    before = list(asked)
    for _ in range(3):
        await made.produce(inference_request(), PAYLOAD, candidates("x"))

    assert asked == before


@pytest.mark.parametrize("body", [b"{}", b"no JSON"], ids=["no-messages", "no-json"])
def test_parsing_is_timed_even_if_it_fails(body: bytes) -> None:
    registry = CollectorRegistry()
    parser = make_parsers()[0]
    parser.type_name = "openai-parser"

    with pytest.raises(RequestError):
        stages(StagePlugins(), registry).parse(parser, body, "/v1/chat/completions", {})

    labels = {"extension_point": "RequestParsing", "plugin_type": "openai-parser", "plugin_name": "openai-parser"}
    assert registry.get_sample_value("llm_d_epp_plugin_duration_seconds_count", labels) == 1
