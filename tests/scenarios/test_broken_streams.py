"""Exchanges that end early, at every phase: what was booked is released once, and the next request works."""

import asyncio
import struct
from socket import SO_LINGER, SOL_SOCKET

import aiohttp
import pytest

from tests.support.exchange import endpoint_metadata
from tests.support.scenario import Scenario

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.xdist_group("envoy-broken")]

BODY = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}'
CHAT = "/v1/chat/completions"


async def opened(scenario: Scenario, body: bytes, *, length: int, behaviour: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection on which a request of `length` bytes was begun and `body` sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", scenario.ports.proxy)
    head = f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\nx-behaviour: {behaviour}\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()
    return reader, writer


async def closed(writer: asyncio.StreamWriter, *, reset: bool) -> None:
    if reset:
        writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
    writer.close()
    try:
        await writer.wait_closed()
    except ConnectionError:
        return


@pytest.mark.parametrize("reset", [False, True], ids=["fin", "rst"])
@pytest.mark.parametrize("sent", [0, 40_000], ids=["headers-only", "half-a-body"])
async def test_client_leaves_before_the_end_of_its_body(scenario: Scenario, sent: int, reset: bool) -> None:
    _, writer = await opened(scenario, b"x" * sent, length=80_000, behaviour="json")

    await closed(writer, reset=reset)

    assert (await scenario.post(BODY))[0] == 200
    assert len(scenario.rig.scheduler.seen) == 1


async def test_client_leaves_while_its_request_waits_in_the_engine(scenario: Scenario) -> None:
    _, writer = await opened(scenario, BODY, length=len(BODY), behaviour="json\r\nx-wait: 1")
    await scenario.waiting.entered.wait()

    await closed(writer, reset=False)

    await scenario.waiting.left.wait()
    assert not scenario.rig.scheduler.seen
    assert not scenario.upstream.received


@pytest.mark.parametrize("reset", [False, True], ids=["fin", "rst"])
async def test_client_leaves_before_the_response(scenario: Scenario, reset: bool) -> None:
    _, writer = await opened(scenario, BODY, length=len(BODY), behaviour="slow")
    await scenario.upstream.arrived.wait()

    await closed(writer, reset=reset)

    await scenario.settled()
    assert scenario.rig.books.causes == ["client-disconnect"]


@pytest.mark.parametrize("reset", [False, True], ids=["fin", "rst"])
async def test_client_leaves_in_mid_stream(scenario: Scenario, reset: bool) -> None:
    reader, writer = await opened(scenario, BODY, length=len(BODY), behaviour="slow-stream")
    await reader.readuntil(b"hi")

    await closed(writer, reset=reset)

    await scenario.settled()
    assert scenario.rig.books.causes == ["error"]  # Envoy does not say who broke off
    assert [step.first for step in scenario.rig.books.steps] == [True, False]


async def test_pod_dies_in_mid_stream(scenario: Scenario) -> None:
    reader, writer = await opened(scenario, BODY, length=len(BODY), behaviour="die")
    await reader.readuntil(b"hi")

    scenario.upstream.release.set()
    await reader.read()  # the proxy ends the connection
    await scenario.settled()
    await closed(writer, reset=False)

    assert scenario.rig.books.causes == ["error"]


async def test_pod_answers_with_an_error(scenario: Scenario) -> None:
    before = scenario.rig.value("llm_d_epp_request_error_total", error_code="ModelServerError")

    status, body = await scenario.post(BODY, behaviour="error")

    assert (status, body) == (500, b'{"error":"no"}')
    await scenario.settled()
    assert scenario.rig.books.causes == ["natural"]
    assert scenario.rig.value("llm_d_epp_request_error_total", error_code="ModelServerError") == before + 1


async def test_pod_does_not_listen(scenario: Scenario) -> None:
    members = scenario.rig.endpoints.all()
    scenario.rig.endpoints.replace_all([endpoint_metadata("gone", port=1)])
    try:
        status, _ = await scenario.post(BODY)
    finally:
        scenario.rig.endpoints.replace_all([member.metadata for member in members])

    assert status == 503
    await scenario.settled()
    assert len(scenario.rig.books.causes) == 1


async def test_empty_pool_refuses_and_recovers(scenario: Scenario) -> None:
    members = scenario.rig.endpoints.all()
    scenario.rig.endpoints.clear()
    try:
        async with scenario.client.post(scenario.url(CHAT), data=BODY) as refused:
            assert refused.status == 503
            assert refused.headers["x-llm-d-request-dropped-reason"] == "rejected-no-endpoints"
            assert refused.content_type == "application/json"
        async with scenario.client.get(scenario.url("/v1/models")) as unrouted:
            assert unrouted.status == 500
    finally:
        scenario.rig.endpoints.replace_all([member.metadata for member in members])


async def test_scheduler_fault_refuses_one_request(scenario: Scenario) -> None:
    scenario.rig.scheduler.failure = ZeroDivisionError("broken plugin")

    status, body = await scenario.post(BODY)
    scenario.rig.scheduler.failure = None

    assert status == 429
    assert b"failed to find target endpoint: broken plugin" in body


async def test_fault_after_booking_refuses_and_releases(scenario: Scenario) -> None:
    scenario.rig.books.failure = ZeroDivisionError("broken plugin")

    status, _ = await scenario.post(BODY)
    scenario.rig.books.failure = None

    assert status == 500
    assert scenario.rig.books.causes == ["error"]


async def test_stream_passes_event_by_event(scenario: Scenario) -> None:
    reader, writer = await opened(scenario, BODY, length=len(BODY), behaviour="slow-stream")
    await reader.readuntil(b"hi")  # arrives while the pod still holds back the rest
    scenario.upstream.release.set()

    await reader.readuntil(b"[DONE]")
    await scenario.settled()
    await closed(writer, reset=False)

    (end,) = [step for step in scenario.rig.books.steps if step.cause is not None]
    assert end.usage is not None
    assert (end.usage.prompt_tokens, end.usage.completion_tokens) == (7, 3)


async def test_many_at_once_with_every_fate(scenario: Scenario) -> None:
    scenario.upstream.release.set()

    async def one(number: int) -> None:
        behaviour = ("json", "stream", "die", "error")[number % 4]
        try:
            await scenario.post(BODY, behaviour=behaviour)
        except aiohttp.ClientPayloadError:
            assert behaviour == "die"

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(number)) for number in range(80)]

    await scenario.settled()
    assert len(tasks) == len(scenario.rig.books.causes)
    assert scenario.rig.books.causes.count("natural") == 60
