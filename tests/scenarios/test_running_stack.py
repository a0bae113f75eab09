"""The aggregated stack end to end: numbers of the worked example, spreading, affinity, routing headers, broken streams."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from tests.support.running_stack import RunningStack, image, running_stack, words

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOLD = {"x-hold": "yes"}
# A held request waits this long before its first chunk: time to read the books, not a bound that a test depends on.
HOLD_FAULT = {"id": "hold", "match": {"header": {"x-hold": "yes"}}, "effect": {"kind": "delay", "ms": 1500}}
ROUTING = {
    "x-gateway-destination-endpoint": "127.0.0.1:1",
    "x-prefiller-host-port": "127.0.0.1:2",
    "x-encoder-hosts-ports": "127.0.0.1:3,127.0.0.1:4",
    "x-data-parallel-host-port": "127.0.0.1:5",
    "x-kv-cache-source-host-port": "127.0.0.1:6",
    "x-gateway-destination-endpoint-subset": "127.0.0.1:7",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[RunningStack]:
    async with running_stack() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def stack(shared: RunningStack) -> AsyncIterator[RunningStack]:
    """Books are balanced and the engine's log is without errors after every test."""
    await shared.reset()
    yield shared
    await shared.eventually("requests", {})
    await shared.eventually("tokens", {})
    assert shared.engine_errors() == []


def example(*, extra: int = 0, seed: int = 1, salt: str = "") -> list[dict[str, Any]]:
    """The worked example: text of 3,840 bytes and a 640x480 image; `extra` more bytes before the image, `salt` keeps tests apart."""
    text = (salt + "abcdefgh" * 480)[:3840]
    return [words(text + "z" * extra), image(640, 480, seed)]


async def place(stack: RunningStack, content: list[dict[str, Any]]) -> tuple[str, dict[str, int]]:
    """Send a request that waits for its first chunk: its pod and what the pod's books then say; ends with the request."""
    before = await stack.successes()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(stack.chat(content, headers=HOLD))
        tokens = await booked(stack)
    assert task.result()[0] == 200
    after = await stack.successes()
    return next(pod for pod in after if after[pod] > before[pod]), tokens


async def booked(stack: RunningStack) -> dict[str, int]:
    """Tokens in flight by pod once a request is booked."""
    for _ in range(300):
        if await stack.inflight("requests"):
            return await stack.inflight("tokens")
        await asyncio.sleep(0.005)
    raise AssertionError("the request was never booked")


async def test_P01_P02_P03_a_repeat_is_free_and_released_at_its_first_chunk(stack: RunningStack) -> None:
    await stack.fault(HOLD_FAULT)
    content = example(salt="P01 ")
    async with asyncio.TaskGroup() as group:
        first = group.create_task(stack.chat(content, headers=HOLD))
        tokens = await booked(stack)
        [(pod, cost)] = tokens.items()
        assert cost == 1280
        second = group.create_task(stack.chat(content, headers=HOLD))
        await stack.eventually("requests", {pod: 2})
        assert await stack.inflight("tokens") == {pod: 1280}
    assert (first.result()[0], second.result()[0]) == (200, 200)
    assert {pod for pod, count in (await stack.successes()).items() if count} >= {pod}


async def test_P04_another_image_of_the_same_size_sticks_and_costs_its_blocks(stack: RunningStack) -> None:
    await stack.fault(HOLD_FAULT)
    first, cost = await place(stack, example(salt="P04 "))
    assert cost == {first: 1280}
    second, cost = await place(stack, example(salt="P04 ", seed=2))
    assert (second, cost) == (first, {first: 320})


async def test_P05_a_longer_text_is_scored_by_what_is_missing(stack: RunningStack) -> None:
    await stack.fault(HOLD_FAULT)
    first, _ = await place(stack, example(salt="P05 "))
    second, cost = await place(stack, example(salt="P05 ", extra=4000))
    assert (second, cost) == (first, {first: 1344})


async def test_repeats_of_a_request_with_an_image_land_on_the_same_pod(stack: RunningStack) -> None:
    for seed in range(100, 108):
        before = await stack.successes()
        for _ in range(3):
            assert (await stack.chat([words("What is this?"), image(320, 320, seed)]))[0] == 200
        after = await stack.successes()
        assert sorted(after[pod] - before[pod] for pod in after) == [0, 0, 0, 3]


async def test_forty_images_with_one_short_prompt_spread_over_an_idle_pool(stack: RunningStack) -> None:
    before = await stack.successes()
    for seed in range(1000, 1040):
        assert (await stack.chat([words("Describe the picture in one sentence."), image(256, 256, seed)]))[0] == 200
    after = await stack.successes()
    shares = {pod: (after[pod] - before[pod]) / 40 for pod in after}
    assert sum(shares.values()) == pytest.approx(1)
    assert max(shares.values()) <= 0.35, shares


async def test_a_clients_own_routing_headers_reach_no_pod_and_choose_none(stack: RunningStack) -> None:
    for name, value in ROUTING.items():
        for spelling in (name, name.upper()):
            status, _ = await stack.chat([words(f"hello {name}")], headers={spelling: value})
            assert status == 200, spelling
    received = await stack.journals()
    assert len(received) == 2 * len(ROUTING)
    leaked = Counter(name for entry in received for name in entry["headers"] if name in ROUTING and entry["headers"][name] == ROUTING[name])
    assert leaked == Counter()
    assert not {name for entry in received for name in entry["headers"]} & (set(ROUTING) - {"x-gateway-destination-endpoint"})


async def test_a_pod_that_dies_in_mid_stream_ends_the_clients_stream_and_balances_the_books(stack: RunningStack) -> None:
    await stack.fault({"id": "cut", "match": {"header": {"x-cut": "yes"}}, "effect": {"kind": "cut_stream", "events": 2}})
    with pytest.raises(aiohttp.ClientError):
        await stack.chat("long", headers={"x-cut": "yes"}, stream=True, max_tokens=50)
    await stack.eventually("requests", {})
    assert (await stack.chat("next"))[0] == 200


async def test_a_client_that_leaves_early_frees_the_pod(stack: RunningStack) -> None:
    await stack.fault(HOLD_FAULT)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(stack.chat("gone", headers=HOLD), 0.3)
    await stack.eventually("requests", {})
    assert (await stack.chat("next"))[0] == 200


async def test_bodyless_requests_are_answered_by_a_pod(stack: RunningStack) -> None:
    async with stack.client.get(f"{stack.plan.url}/v1/models") as response:
        assert response.status == 200
        assert (await response.json())["data"][0]["id"] == stack.plan.model
    async with stack.client.head(f"{stack.plan.url}/v1/models") as response:
        assert response.status == 200
