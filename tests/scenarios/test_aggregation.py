"""The aggregated topology's decisions, with the real plugins and without a network: numbers and spread."""

import dataclasses
import json
from collections import Counter
from typing import Any

import pytest

from router.engine.datalayer.endpoints import Endpoints
from router.framework.attributes.load import inflight_load, uncached_tokens
from router.framework.attributes.prefix_match import PrefixMatch, prefix_match
from router.framework.attributes.tokenized_prompt import tokenized_prompt
from router.framework.compat import Compat
from router.framework.control import ResponseProgress, TerminationCause
from router.framework.endpoint import Endpoint, EndpointMetadata
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult
from router.payloads.chat import parse_chat
from tests.support.documents import AGGREGATION
from tests.support.engine import inference_request, load_configuration, make_handle
from tests.support.pictures import data_url, png, png_url

THRESHOLD = 4_194_304


class Decision:
    """One request on its way."""

    def __init__(self, request: InferenceRequest, views: dict[str, Endpoint], result: SchedulingResult) -> None:
        self.request, self.views, self.result = request, views, result

    @property
    def target(self) -> str:
        return self.result.target.metadata.name

    @property
    def scores(self) -> dict[str, float]:
        return {endpoint.metadata.name: score for endpoint, score in self.result.profiles["default"].scores.items()}

    def match(self, name: str) -> PrefixMatch:
        found = self.views[name].read(prefix_match())
        assert found is not None
        return found

    def matches(self) -> dict[str, tuple[int, int]]:
        return {name: (self.match(name).matched_blocks, self.match(name).total_blocks) for name in self.views}

    def cost(self, name: str) -> int:
        found = self.views[name].read(uncached_tokens())
        assert found is not None
        return found.tokens

    @property
    def tokens(self) -> int:
        found = self.request.read(tokenized_prompt())
        assert found is not None
        return found.length


class Engine:
    """The plugins of the configuration, called in the order in which the engine calls them."""

    def __init__(self, *names: str, compat: Compat | None = None) -> None:
        self.assembly = load_configuration(AGGREGATION, handle=make_handle(compat=compat))
        self.endpoints = Endpoints(self.assembly.listeners)
        self.count = 0
        for number, name in enumerate(names, 1):
            self.endpoints.upsert(
                EndpointMetadata(id=f"default/{name}-rank-0", name=name, namespace="default", address=f"10.0.0.{number}", port=8000)
            )

    async def route(self, *parts: dict[str, Any]) -> Decision:
        self.count += 1
        request = inference_request(f"r{self.count}")
        payload = parse_chat(json.dumps({"model": "m", "messages": [{"role": "user", "content": list(parts)}]}).encode())
        views = [Endpoint(live) for live in self.endpoints.all()]
        for producer in self.assembly.producers:
            await producer.prepare(request, payload)
        for producer in self.assembly.producers:
            await producer.produce(request, views)
        result = self.assembly.scheduler.schedule(request, views)
        for plugin in self.assembly.pre_request:
            await plugin.before_request(request, result)
        return Decision(request, {view.metadata.name: view for view in views}, result)

    def progress(self, decision: Decision, *, end: bool = False) -> None:
        step = ResponseProgress(first=not end, cause=TerminationCause.NATURAL if end else None)
        for plugin in self.assembly.response_body:
            plugin.on_progress(decision.request, decision.result, step)

    def load(self, name: str) -> tuple[int, int]:
        live = self.endpoints.get(f"default/{name}-rank-0")
        assert live is not None
        load = live.attributes[inflight_load()]
        return load.requests, load.tokens


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "text": content}


def image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


TEXT = text("x" * 3840)
IMAGE = image(png_url(640, 480))
OTHER_IMAGE = image(data_url(png(640, 480) + b"other"))


@pytest.mark.parametrize("compat", [Compat(), Compat(reference=True)], ids=["ours", "reference"])
async def test_p01_p02_p03_a_request_sticks_and_is_booked(compat: Compat) -> None:
    engine = Engine("A", "B", "C", compat=compat)

    first = await engine.route(TEXT, IMAGE)
    a = first.target
    assert first.tokens == 1261
    assert first.matches() == {"A": (0, 20), "B": (0, 20), "C": (0, 20)}
    assert [first.cost(name) for name in "ABC"] == [1280] * 3
    assert list(first.scores.values()) == [1 - 1280 / THRESHOLD] * 3
    assert first.scores["A"] == pytest.approx(0.999694824, abs=1e-9)
    assert engine.load(a) == (1, 1280)

    second = await engine.route(TEXT, IMAGE)
    assert second.matches() == {"A": (0, 20), "B": (0, 20), "C": (0, 20), a: (20, 20)}
    assert list(second.scores) == [a]
    assert second.cost(a) == 0
    assert engine.load(a) == (2, 1280)

    engine.progress(first)
    after_first_chunk = engine.load(a)
    engine.progress(first, end=True)
    assert (after_first_chunk, engine.load(a)) == ((2, 0), (1, 0))

    engine.progress(second)
    engine.progress(second, end=True)
    assert engine.load(a) == (0, 0)


async def test_p04_another_image_of_the_same_size() -> None:
    engine = Engine("A", "B", "C")
    first = await engine.route(TEXT, IMAGE)

    other = await engine.route(TEXT, OTHER_IMAGE)

    a = first.target
    assert other.matches()[a] == (15, 20)
    assert list(other.scores) == [a]
    assert other.cost(a) == 320


async def test_p05_a_longer_text() -> None:
    engine = Engine("A", "B", "C")
    first = await engine.route(TEXT, IMAGE)
    engine.progress(first)
    engine.progress(first, end=True)

    longer = await engine.route(text("x" * 7840), IMAGE)

    a = first.target
    others = {name: 1 - 2304 / THRESHOLD for name in "ABC" if name != a}
    assert longer.matches()[a] == (15, 36)
    assert longer.scores == {a: 1 - 1344 / THRESHOLD, **others}
    assert longer.target == a


async def test_field_p32_new_prefixes_spread_over_idle_endpoints() -> None:
    engine = Engine(*"ABCDEFGH")
    counts: Counter[str] = Counter()
    for number in range(80):
        decision = await engine.route(text(f"{number:05d}" * 400))
        counts[decision.target] += 1
        engine.progress(decision)
        engine.progress(decision, end=True)

    assert all(count in {9, 10, 11} for count in counts.values())
    assert sum(counts.values()) == 80


async def test_forty_images_with_one_short_prompt_spread() -> None:
    engine = Engine("A", "B", "C", "D")
    targets: Counter[str] = Counter()
    for number in range(40):
        decision = await engine.route(text("What is this?"), image(data_url(png(1280, 720) + bytes([number]))))
        targets[decision.target] += 1
        engine.progress(decision)
        engine.progress(decision, end=True)

    assert max(targets.values()) <= 14


async def test_a_repeat_lands_on_the_same_endpoint() -> None:
    engine = Engine(*"ABCDEFGH")
    homes = {number: (await engine.route(image(data_url(png(640, 480) + bytes([number]))))).target for number in range(20)}

    again = {number: (await engine.route(image(data_url(png(640, 480) + bytes([number]))))).target for number in range(20)}

    assert again == homes


@pytest.mark.parametrize(("backlog", "stays"), [(567_036, True), (567_037, False)])
async def test_stickiness_ends_where_the_backlog_costs_more(backlog: int, *, stays: bool) -> None:
    engine = Engine("A", "B")
    home = (await engine.route(TEXT, IMAGE)).target
    live = engine.endpoints.get(f"default/{home}-rank-0")
    assert live is not None
    live.attributes[inflight_load()].tokens = backlog

    again = await engine.route(TEXT, IMAGE)

    assert (again.target == home) is stays


async def test_field_p34_a_restarted_pod_is_not_sticky() -> None:
    engine = Engine("A", "B")
    home = (await engine.route(TEXT, IMAGE)).target
    metadata = engine.endpoints.all()["AB".index(home)].metadata
    engine.endpoints.upsert(dataclasses.replace(metadata, uid="another"))

    again = await engine.route(TEXT, IMAGE)

    assert again.matches() == {"A": (0, 20), "B": (0, 20)}
