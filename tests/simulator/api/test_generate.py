import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, cast

import aiohttp
import pytest
from aiohttp.abc import AbstractStreamWriter
from aiohttp.test_utils import make_mocked_request

from simulator.api.generate import stream
from simulator.app import Server
from simulator.clock import VirtualClock, settle
from tests.support.simulated import MODEL, chat, counter, events, image_part, picture, served

CHAT = "/v1/chat/completions"
LONG = "The router hashes the text and the image of a multimodal request to find a warm pod. " * 40


async def test_A1_the_same_image_request_twice_hits_prefix_and_processor_cache() -> None:
    body = chat(f"{LONG} What color is this image?", image_part(picture("red")), max_tokens=16)
    async with served() as (_, client):
        answer: dict[str, Any] = {}
        for _ in range(2):
            async with client.post(CHAT, json=body) as response:
                answer = await response.json()

        prompt = answer["usage"]["prompt_tokens"]
        assert answer["choices"][0]["message"]["content"] == "The image is red."
        assert await counter(client, "vllm:request_success_total") == 2
        assert await counter(client, "vllm:prefix_cache_queries_total") == 2 * prompt
        assert await counter(client, "vllm:prefix_cache_hits_total") == (prompt - 1) // 16 * 16
        assert await counter(client, "vllm:mm_cache_queries_total") == 2
        assert await counter(client, "vllm:mm_cache_hits_total") == 1
        assert answer["usage"]["prompt_tokens_details"]["cached_tokens"] == (prompt - 1) // 16 * 16


async def test_A2_another_image_hits_only_the_text_before_it() -> None:
    async with served() as (_, client):
        for colour in ("red", "blue"):
            async with client.post(CHAT, json=chat(LONG, image_part(picture(colour)), max_tokens=4)) as response:
                assert response.status == 200

        before = await counter(client, "vllm:prefix_cache_hits_total")
        async with client.post("/tokenize", json={"messages": [{"role": "user", "content": LONG}]}) as response:
            text_tokens = (await response.json())["count"]
        assert text_tokens - 32 <= before <= text_tokens
        assert await counter(client, "vllm:mm_cache_hits_total") == 0


@pytest.mark.parametrize("form", ["png", "jpeg", "gif", "webp"])
async def test_the_colour_of_an_inline_picture(form: str) -> None:
    async with (
        served() as (_, client),
        client.post(CHAT, json=chat("Which colour?", image_part(picture("purple", form.upper()), form))) as r,
    ):
        assert (await r.json())["choices"][0]["message"]["content"] == "The image is purple."


async def test_a_stream_ends_with_its_reason_and_done() -> None:
    async with served() as (_, client), client.post(CHAT, json=chat("x", stream=True, max_tokens=3)) as response:
        said = await events(response)

        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert said[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
        assert [c["choices"][0]["finish_reason"] for c in said[:-1]] == [None, None, None, "length"]
        assert said[-2]["system_fingerprint"]
        assert all("usage" not in c for c in said[:-1])
        assert said[-1] == "data: [DONE]"


async def test_a_stream_says_what_the_whole_answer_says() -> None:
    async with served() as (_, client):
        async with client.post(CHAT, json=chat("x")) as response:
            whole = (await response.json())["choices"][0]["message"]["content"]
        async with client.post(CHAT, json=chat("x", stream=True)) as response:
            pieces = [c["choices"][0]["delta"]["content"] for c in (await events(response))[:-1]]

    assert "".join(pieces) == whole


async def test_usage_comes_once_at_the_end_or_with_every_chunk() -> None:
    async with served() as (_, client):
        async with client.post(CHAT, json=chat("x", stream=True, max_tokens=2, stream_options={"include_usage": True})) as response:
            once = await events(response)
        flags = {"include_usage": True, "continuous_usage_stats": True}
        async with client.post(CHAT, json=chat("x", stream=True, max_tokens=2, stream_options=flags)) as response:
            every = await events(response)

    assert once[-2]["choices"] == []
    assert set(once[-2]["usage"]) == {"prompt_tokens", "total_tokens", "completion_tokens"}
    assert all("usage" not in c for c in once[:-2])
    assert all("usage" in c for c in every[:-1])
    assert every[-2]["usage"] == once[-2]["usage"]


async def test_headers_leave_before_the_first_token() -> None:
    clock = VirtualClock()
    async with served("--sim-step-base", "10", clock=clock) as (_, client), client.post(CHAT, json=chat("x", stream=True)) as response:
        assert response.status == 200


async def test_choices_share_the_prompt_and_count_each() -> None:
    async with served() as (_, client):
        async with client.post(CHAT, json=chat("x", n=3, max_tokens=5)) as response:
            answer = await response.json()

        assert [c["index"] for c in answer["choices"]] == [0, 1, 2]
        assert answer["usage"]["completion_tokens"] == 15
        assert await counter(client, "vllm:request_success_total") == 3


async def test_max_tokens_beyond_the_context_is_clipped() -> None:
    body = chat("x", max_tokens=10_000, ignore_eos=True)
    async with served("--max-model-len", "100") as (_, client), client.post(CHAT, json=body) as response:
        answer = await response.json()

    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["total_tokens"] == 100


@pytest.mark.parametrize(
    ("headers", "fields", "number"), [({"x-request-id": "a"}, {"request_id": "b"}, "a"), ({}, {"request_id": "b"}, "b")]
)
async def test_ids_come_from_the_header_or_the_body(headers: dict[str, str], fields: dict[str, str], number: str) -> None:
    async with served() as (_, client), client.post(CHAT, json=chat("x", **fields), headers=headers) as response:
        assert (await response.json())["id"] == f"chatcmpl-{number}"
        assert "x-request-id" not in response.headers


async def test_text_completions_streamed_and_not() -> None:
    body = {"model": MODEL, "prompt": ["a", "b"], "max_tokens": 4}
    async with served() as (_, client):
        async with client.post("/v1/completions", json=body) as response:
            answer = await response.json()
        async with client.post("/v1/completions", json={**body, "prompt": "a", "stream": True}) as response:
            said = await events(response)

    assert answer["id"].startswith("cmpl-")
    assert "".join(c["choices"][0]["text"] for c in said[:-1]) == answer["choices"][0]["text"]


ERRORS = [
    (chat("x", model="nobody"), 404, "NotFoundError", "The model `nobody` does not exist."),
    (chat("x " * 40_000), 400, "BadRequestError", "This model's maximum context length is 32768 tokens."),
    (chat({"type": "image_url", "image_url": None, "uuid": "u"}), 400, "BadRequestError", "Cache miss for image at index 0"),
    (
        chat("x", mm_processor_kwargs={"size": 5}) | {"messages": [{"role": "user", "content": [image_part(picture("red"))]}]},
        400,
        "Bad Request",
        "1 validation error",
    ),
]


@pytest.mark.parametrize(("body", "status", "kind", "words"), ERRORS, ids=["model", "context", "uuid", "kwargs"])
@pytest.mark.parametrize("stream", [False, True])
async def test_errors_before_generation_are_json(body: dict[str, object], status: int, kind: str, words: str, *, stream: bool) -> None:
    async with served() as (_, client), client.post(CHAT, json={**body, "stream": stream}) as response:
        error = (await response.json())["error"]

        assert (response.status, error["code"], error["type"]) == (status, status, kind)
        assert error["message"].startswith(words)
        assert await counter(client, "vllm:request_success_total") == 0


async def test_a_full_queue_is_503() -> None:
    async with served("--sim-max-waiting", "0") as (_, client), client.post(CHAT, json=chat("x")) as response:
        assert response.status == 503


async def ended(server: Server, clock: VirtualClock) -> None:
    """Time passes until the engine holds nothing; fails after a simulated minute."""
    for _ in range(600):
        await clock.advance(0.1)
        if server.engine.scheduler.idle:
            return
    raise AssertionError("requests are still held")


@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_that_leaves_ends_its_request_and_the_books_are_zero(*, stream: bool) -> None:
    clock = VirtualClock()
    body = chat("x", stream=stream, max_tokens=20_000, ignore_eos=True)
    async with served("--sim-step-base", "0.01", clock=clock) as (server, client):
        async with asyncio.TaskGroup() as tasks:
            request = tasks.create_task(_ask_until_cancelled(client, json.dumps(body)))
            while not server.engine.scheduler.running:
                await clock.advance(0.01)
            request.cancel()
        await ended(server, clock)
        await settle()

        assert server.counters.running == server.counters.waiting == 0
        assert server.engine.pool.usage == 0
        assert await counter(client, "vllm:request_success_total") == 0
        assert await counter(client, "vllm:num_requests_running") == 0


async def _ask_until_cancelled(client: aiohttp.ClientSession, body: str) -> None:
    async with client.post(CHAT, data=body, headers={"content-type": "application/json"}) as response:
        await response.read()


async def test_five_hundred_streams_at_once() -> None:
    async with served() as (server, client):
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(server.url, connector=connector) as many, asyncio.TaskGroup() as tasks:
            asked = [tasks.create_task(_length(many, i)) for i in range(500)]

        assert [task.result() for task in asked] == [10] * 500
        assert await counter(client, "vllm:request_success_total") == 500


async def _length(client: aiohttp.ClientSession, number: int) -> int:
    async with client.post(CHAT, json=chat(f"number {number}", stream=True, max_tokens=8)) as response:
        return len(await events(response))


async def test_a_uuid_alone_means_the_item_seen_before() -> None:
    whole = {**image_part(picture("red", side=700)), "uuid": "pic-1"}
    named = {"type": "image_url", "image_url": None, "uuid": "pic-1"}
    async with served() as (_, client):
        async with client.post(CHAT, json=chat("color?", named)) as response:
            assert response.status == 400
            assert (await response.json())["error"]["message"] == "Cache miss for image at index 0 but data is not provided."
        answers: list[dict[str, Any]] = []
        for part in (whole, named):
            async with client.post(CHAT, json=chat("color?", part)) as response:
                answers.append(await response.json())
        assert await counter(client, "vllm:mm_cache_hits_total") == 1

    assert answers[0]["usage"]["prompt_tokens"] == answers[1]["usage"]["prompt_tokens"]
    assert answers[1]["choices"][0]["message"]["content"] == "The image is red."


async def test_few_blocks_and_a_small_budget_preempt_but_never_hang() -> None:
    async with served("--num-gpu-blocks-override", "40", "--max-num-batched-tokens", "37") as (server, client):

        async def tokens(number: int) -> int:
            async with client.post(CHAT, json=chat(f"{number} {'word ' * 60}", max_tokens=100, ignore_eos=True)) as response:
                return (await response.json())["usage"]["completion_tokens"]

        async with asyncio.timeout(60):
            assert set(await asyncio.gather(*(tokens(number) for number in range(12)))) == {100}
            async with client.post(CHAT, json=chat("word " * 2_000)) as response:
                assert (response.status, (await response.json())["error"]["type"]) == (500, "InternalServerError")

        assert server.engine.scheduler.preempted > 0
        assert server.engine.pool.free == 40


class Gone(AbstractStreamWriter):
    """A connection that is gone once the headers are sent."""

    async def write(self, chunk: object) -> None:
        raise ConnectionResetError("Cannot write to closing transport")

    async def write_eof(self, chunk: bytes = b"") -> None:
        await self.write(chunk)

    async def drain(self) -> None:
        pass

    def enable_compression(self, *_: object, **__: object) -> None:
        pass

    def enable_chunking(self) -> None:
        pass

    async def write_headers(self, status_line: str, headers: object) -> None:
        pass


async def test_a_client_that_leaves_in_the_middle_of_a_stream_is_no_fault(caplog: pytest.LogCaptureFixture) -> None:
    class Generator:
        abandoned = 0

        async def events(self, _: object) -> AsyncIterator[bytes]:
            yield b"data: 1\n\n"

        def abandon(self, _: object) -> None:
            self.abandoned += 1

    generator: Any = Generator()
    request = make_mocked_request("POST", CHAT, writer=Gone())

    response = await stream(request, generator, cast("Any", None), None)

    assert response.status == 200
    assert generator.abandoned == 1
    assert not caplog.records
