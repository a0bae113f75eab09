from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from router.engine.datalayer.endpoints import Endpoints
from router.framework.attributes.load import inflight_load, uncached_tokens
from router.framework.attributes.prefix_match import PrefixMatch, prefix_match
from router.framework.attributes.tokenized_prompt import Prompt, TokenizedPrompt, tokenized_prompt
from router.framework.compat import Compat
from router.framework.control import ResponseProgress, TerminationCause
from router.framework.endpoint import Endpoint, EndpointMetadata, LiveEndpoint
from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult
from router.plugins.producers.inflight_load_producer import TYPE, InflightLoadProducer, Parameters, estimated_output, uncached
from tests.support.engine import REFERENCE, RecordingMetrics, inference_request, make_handle, result_of

FIRST = ResponseProgress(first=True)
END = ResponseProgress(first=False, cause=TerminationCause.NATURAL)


def match(matched: int, total: int, block: int) -> PrefixMatch:
    return PrefixMatch(matched_blocks=matched, total_blocks=total, block_size_tokens=block)


@pytest.mark.parametrize(
    ("length", "found", "expected"),
    [
        pytest.param(5, match(1, 2, 4), 4, id="F01"),
        pytest.param(5, None, 5, id="F02"),
        pytest.param(6, match(0, 1, 64), 64, id="F03"),
        pytest.param(950, match(9, 15, 64), 384, id="F04"),
        pytest.param(950, match(15, 15, 64), 0, id="F05"),
        pytest.param(200_000, match(0, 2048, 64), 200_000, id="F06"),
        pytest.param(200_000, match(2048, 2048, 64), 68_928, id="F07"),
        pytest.param(230, match(0, 4, 64), 256, id="F08"),
        pytest.param(230, match(3, 4, 64), 64, id="F09"),
        pytest.param(230, match(5, 4, 64), 0, id="F10"),
    ],
)
def test_uncached_tokens(length: int, found: PrefixMatch | None, expected: int) -> None:
    assert uncached(length, found) == expected


@pytest.mark.parametrize(
    ("ratio", "length", "client", "operator", "expected"),
    [
        pytest.param(1.5, 1, None, None, 2, id="F20"),
        pytest.param(1.5, 10, None, None, 15, id="F21"),
        pytest.param(1.5, 3, None, None, 5, id="F22"),
        pytest.param(1.5, 10, 3, None, 3, id="F23"),
        pytest.param(1.5, 100, 0, None, 0, id="F24"),
        pytest.param(1.5, 100, -10, None, 150, id="F25"),
        pytest.param(1.5, 100, 80, 30, 30, id="F26"),
        pytest.param(1.5, 100, None, 40, 40, id="F27"),
        pytest.param(0, 100, None, None, 0, id="F28"),
        pytest.param(2.0, 4, None, None, 8, id="F29"),
        pytest.param(1.5, 0, None, None, 0, id="no-input"),
    ],
)
def test_estimated_output(ratio: float, length: int, client: int | None, operator: int | None, expected: int) -> None:
    assert estimated_output(length, ratio, client, operator) == expected


class Pool:
    """Endpoints whose load a producer keeps, and requests on them."""

    def __init__(self, *names: str, compat: Compat | None = None, **parameters: Any) -> None:
        self.recorded = RecordingMetrics()
        self.producer = InflightLoadProducer(TYPE, decode(Parameters, parameters), make_handle(compat=compat, metrics=self.recorded))
        self.endpoints = Endpoints([self.producer])
        self.started = 0
        for name in names:
            self.join(name)

    def join(self, name: str, *, uid: str = "") -> LiveEndpoint:
        metadata = EndpointMetadata(id=f"default/{name}-rank-0", name=name, namespace="default", address="10.0.0.1", port=8000, uid=uid)
        return self.endpoints.upsert(metadata)

    def leave(self, name: str) -> None:
        self.endpoints.remove(f"default/{name}-rank-0")

    def live(self, name: str) -> LiveEndpoint:
        found = self.endpoints.get(f"default/{name}-rank-0")
        assert found is not None
        return found

    def load(self, name: str) -> tuple[int, int]:
        load = self.live(name).attributes[inflight_load()]
        return load.requests, load.tokens

    async def start(self, tokens: int = 4, **profiles: str) -> tuple[InferenceRequest, SchedulingResult]:
        self.started += 1
        request = inference_request(f"r{self.started}")
        if tokens:
            request.write(tokenized_prompt(), TokenizedPrompt(prompts=(Prompt(packed=bytes(4 * tokens)),)))
        views = {live.metadata.name: Endpoint(live) for live in self.endpoints.all()}
        await self.producer.produce(request, list(views.values()))
        result = result_of(**{profile: views[name] for profile, name in profiles.items()})
        await self.producer.before_request(request, result)
        return request, result

    def progress(self, started: tuple[InferenceRequest, SchedulingResult], step: ResponseProgress) -> None:
        assert self.producer.on_progress(*started, step) is None


async def test_f40_with_estimated_output() -> None:
    pool = Pool("a", addEstimatedOutputTokens=True)

    started = await pool.start(decode="a")
    booked = pool.load("a")
    pool.progress(started, FIRST)
    held = pool.load("a")
    pool.progress(started, END)

    assert (booked, held, pool.load("a")) == ((1, 10), (1, 10), (0, 0))


async def test_f41_prefill_is_released_at_the_first_chunk() -> None:
    pool = Pool("a", "b")

    started = await pool.start(prefill="a", decode="b")
    booked = pool.load("a")[0], pool.load("b")[0]
    pool.progress(started, FIRST)
    first = pool.load("a")[0], pool.load("b")[0]
    pool.progress(started, END)

    assert (booked, first) == ((1, 1), (0, 1))
    assert (pool.load("a"), pool.load("b")) == ((0, 0), (0, 0))


async def test_f42_tokens_go_at_the_first_chunk() -> None:
    pool = Pool("a", "b")

    started = await pool.start(prefill="a", decode="b")
    pool.progress(started, FIRST)

    assert (pool.load("a"), pool.load("b")) == ((0, 0), (1, 0))


async def test_f43_field_p38_a_release_hits_the_instance_that_was_charged() -> None:
    pool = Pool("e")

    first = await pool.start(4, decode="e")
    pool.leave("e")
    pool.join("e")
    second = await pool.start(6, decode="e")
    pool.progress(first, END)
    after_first = pool.load("e")
    pool.progress(second, END)

    assert (after_first, pool.load("e")) == ((1, 6), (0, 0))


async def test_f44_released_once_only() -> None:
    pool = Pool("a")

    started = await pool.start(decode="a")
    for step in (END, END, FIRST):
        pool.progress(started, step)

    assert pool.load("a") == (0, 0)


async def test_an_answer_in_one_step_releases_everything() -> None:
    pool = Pool("a")

    started = await pool.start(decode="a")
    pool.progress(started, ResponseProgress(first=True, cause=TerminationCause.NATURAL))

    assert pool.load("a") == (0, 0)


@pytest.mark.parametrize(("compat", "encode"), [(None, (0, 0)), (REFERENCE, (1, 0))], ids=["ours", "reference"])
async def test_an_encoder_is_free_at_the_first_chunk(compat: Compat | None, encode: tuple[int, int]) -> None:
    pool = Pool("a", "b", compat=compat)

    started = await pool.start(encode="a", decode="b")
    pool.progress(started, FIRST)

    assert pool.load("a") == encode


async def test_cost_is_written_on_every_candidate() -> None:
    pool = Pool("a", "b")
    request = inference_request()
    request.write(tokenized_prompt(), TokenizedPrompt(prompts=(Prompt(packed=bytes(4 * 230)),)))
    views = [Endpoint(live) for live in pool.endpoints.all()]
    views[1].write(prefix_match(), match(3, 4, 64))
    await pool.producer.produce(request, views)

    assert [cost.tokens for view in views if (cost := view.read(uncached_tokens()))] == [230, 64]


async def test_a_request_without_tokens_counts_as_a_request() -> None:
    pool = Pool("a")
    await pool.start(0, decode="a")

    assert pool.load("a") == (1, 0)


async def test_an_endpoint_nobody_announced_is_booked_too() -> None:
    pool = Pool("a")
    live = pool.live("a")
    del live.attributes[inflight_load()]

    started = await pool.start(decode="a")
    booked = pool.load("a")
    pool.progress(started, END)

    assert (booked, pool.load("a")) == ((1, 4), (0, 0))


async def test_gauges_follow_every_change() -> None:
    pool = Pool("a")

    started = await pool.start(decode="a")
    booked = dict(pool.recorded.inflight_totals)
    pool.progress(started, END)

    key = ("a-rank-0", "default-flow", 0)
    assert (booked, pool.recorded.inflight_totals) == ({key: (1, 4)}, {key: (0, 0)})


async def test_gauges_of_an_endpoint_leave_with_it_and_are_not_its_successors() -> None:
    pool = Pool("a")

    before = await pool.start(decode="a")
    pool.leave("a")
    left = dict(pool.recorded.inflight_totals)
    pool.join("a")
    await pool.start(6, decode="a")
    pool.progress(before, END)

    assert left == {}
    assert pool.recorded.inflight_totals == {("a-rank-0", "default-flow", 0): (1, 6)}


async def test_debug_state() -> None:
    pool = Pool("a")
    await pool.start(decode="a")

    assert pool.producer.debug_state() == {
        "endpoints": [{"endpoint": "default/a-rank-0", "requests": 1, "tokens": 4}],
        "totalEndpoints": 1,
        "maxEndpoints": 100,
        "truncated": False,
    }


@pytest.mark.parametrize("parameters", [{"outputRatio": -0.1}, {"maxEstimatedOutputTokens": -1}], ids=str)
def test_parameters_are_checked(parameters: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="is negative"):
        decode(Parameters, parameters)


NAMES = ("a", "b", "c")


def run(step: Any) -> Any:
    """Drive a coroutine that never waits."""
    try:
        step.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("waited")


class Books(RuleBasedStateMachine):
    """Requests start, answer and end while endpoints come and go, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = Pool(*NAMES, addEstimatedOutputTokens=False)
        self.running: list[tuple[InferenceRequest, SchedulingResult]] = []
        self.instances = list(self.pool.endpoints.all())

    @rule(name=st.sampled_from(NAMES), tokens=st.integers(0, 500), prefill=st.sampled_from([*NAMES, ""]))
    def start(self, name: str, tokens: int, prefill: str) -> None:
        present = {live.metadata.name for live in self.pool.endpoints.all()}
        if name in present:
            stages = {"prefill": prefill} if prefill in present else {}
            self.running.append(run(self.pool.start(tokens, **stages, decode=name)))

    @precondition(lambda self: bool(self.running))
    @rule(data=st.data())
    def first_chunk(self, data: st.DataObject) -> None:
        self.pool.progress(data.draw(st.sampled_from(self.running)), FIRST)

    @precondition(lambda self: bool(self.running))
    @rule(data=st.data(), cause=st.sampled_from(TerminationCause))
    def end(self, data: st.DataObject, cause: TerminationCause) -> None:
        started = data.draw(st.sampled_from(self.running))
        self.running.remove(started)
        self.pool.progress(started, ResponseProgress(first=False, cause=cause))

    @rule(name=st.sampled_from(NAMES))
    def delete(self, name: str) -> None:
        self.pool.leave(name)

    @rule(name=st.sampled_from(NAMES), uid=st.sampled_from(["", "1", "2"]))
    def create(self, name: str, uid: str) -> None:
        self.instances.append(self.pool.join(name, uid=uid))

    @invariant()
    def never_below_zero(self) -> None:
        for live in self.instances:
            load = live.attributes[inflight_load()]
            assert load.requests >= 0
            assert load.tokens >= 0

    def teardown(self) -> None:
        for started in self.running:
            self.pool.progress(started, END)
        for live in self.instances:
            load = live.attributes[inflight_load()]
            assert (load.requests, load.tokens) == (0, 0)
        assert all(total == (0, 0) for total in self.pool.recorded.inflight_totals.values())


TestBooks = Books.TestCase
TestBooks.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
