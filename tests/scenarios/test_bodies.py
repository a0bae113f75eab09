"""Requests through real Envoy: what a client sends is what the pod gets, and what is wrong is refused with JSON."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator

import pytest
from multidict import CIMultiDict

from tests.support.scenario import Scenario
from tests.support.upstream import EVENTS, USAGE

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.xdist_group("envoy-bodies")]


def chat_body(size: int) -> bytes:
    """A chat body of exactly `size` bytes, in as odd a layout as JSON allows."""
    start, end = b'{ "model":"m",\n"messages":[{"role":"user","content":"', b'"}] , "n":1.0}'
    return start + b"x" * (size - len(start) - len(end)) + end


@pytest.mark.parametrize("size", [80, 32_767, 32_768, 32_769, 62_000, 220_000, 1_048_576, 10_000_000, 20_971_520], ids=str)
async def test_field_P03_body_arrives_byte_for_byte(scenario: Scenario, size: int) -> None:
    body = chat_body(size)

    status, _ = await scenario.post(body)

    assert status == 200
    (received,) = scenario.upstream.received
    assert (received.size, received.sha256) == (size, hashlib.sha256(body).hexdigest())


async def test_smallest_request_passes(scenario: Scenario) -> None:
    status, _ = await scenario.post(b'{"model":"m","prompt":"x"}', path="/v1/completions")

    assert status == 200


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":',
        b"[]",
        b"null",
        b'"x"',
        b'{"a":1}{"b":2}',
        b'\xef\xbb\xbf{"model":"m"}',
        b'{"model":"\\ud800","messages":[]}',
        b"[" * 2000,
        b'{"x":' + b"[" * 2000 + b"]" * 2000 + b"}",
        b'{"model":5,"messages":[{"role":"user","content":"x"}]}',
        b'{"model":"m","messages":7}',
    ],
    ids=["cut", "list", "null", "text", "two", "bom", "surrogate", "open-lists", "nested", "model-type", "messages-type"],
)
async def test_field_P07_malformed_body_is_refused_and_the_next_request_works(scenario: Scenario, body: bytes) -> None:
    status, answer = await scenario.post(body)

    assert status == 400
    error = json.loads(answer)["error"]
    assert (error["code"], error["type"]) == (400, "BadRequestError")
    assert error["message"]
    assert (await scenario.post(chat_body(100)))[0] == 200


async def test_field_P07_empty_body_is_answered_by_the_pod(scenario: Scenario) -> None:
    status, _ = await scenario.post(b"")

    assert status == 200
    assert scenario.upstream.received[0].size == 0


async def test_chunked_upload_passes(scenario: Scenario) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, 300_000, 7_001):
            yield chat_body(300_000)[start : start + 7_001]

    async with scenario.client.post(scenario.url("/v1/chat/completions"), data=pieces()) as response:
        assert response.status == 200
    assert scenario.upstream.received[0].sha256 == hashlib.sha256(chat_body(300_000)).hexdigest()


@pytest.mark.parametrize("size", [80, 220_000], ids=str)
async def test_the_pod_sees_another_model_name_and_the_client_its_own(scenario: Scenario, size: int) -> None:
    body = chat_body(size)
    headers = {"x-behaviour": "echo", "x-llm-d-model-name-rewrite": "another-model"}

    async with scenario.client.post(scenario.url("/v1/chat/completions"), data=body, headers=headers) as response:
        status, answer = response.status, await response.read()

    assert (status, answer) == (200, body)
    assert scenario.upstream.received[0].size == size + len("another-model") - len("m")


@pytest.mark.parametrize("behaviour", ["json", "stream"])
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/messages", b'{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"x"}]}'),
        ("/v1/messages/count_tokens", b"not even JSON"),
        ("/inference/v1/generate", b'{"model":"m","token_ids":[1,2,3]}'),
    ],
    ids=["messages", "count-tokens", "generate"],
)
async def test_other_apis_pass_in_both_directions(scenario: Scenario, path: str, body: bytes, behaviour: str) -> None:
    status, answer = await scenario.post(body, path=path, behaviour=behaviour)

    assert (status, answer) == (200, USAGE if behaviour == "json" else b"".join(EVENTS))
    assert scenario.upstream.received[0].sha256 == hashlib.sha256(body).hexdigest()


async def test_large_malformed_body_is_refused(scenario: Scenario) -> None:
    status, answer = await scenario.post(chat_body(10_000_000)[:-1])

    assert (status, json.loads(answer)["error"]["type"]) == (400, "BadRequestError")


async def test_body_that_ends_with_trailers_passes(scenario: Scenario) -> None:
    body = chat_body(20_000)
    reader, writer = await asyncio.open_connection("127.0.0.1", scenario.ports.proxy)
    writer.write(http2_request_with_trailers(body))
    await writer.drain()

    frames = await http2_answer(reader)
    writer.close()
    await writer.wait_closed()

    assert b"".join(payload for kind, payload in frames if kind == DATA) == USAGE
    assert scenario.upstream.received[0].sha256 == hashlib.sha256(body).hexdigest()


DATA, HEADERS, RESET, SETTINGS, GOAWAY = 0x0, 0x1, 0x3, 0x4, 0x7
END_STREAM, END_HEADERS = 0x1, 0x4


def http2_request_with_trailers(body: bytes) -> bytes:
    """A whole connection's worth of HTTP/2 frames: one POST whose body is followed by a trailer."""

    def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
        return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload

    def field(name: str, value: str) -> bytes:  # a literal without indexing, without Huffman coding
        return bytes((0, len(name))) + name.encode() + bytes((len(value),)) + value.encode()

    fields = {":method": "POST", ":scheme": "http", ":path": "/v1/chat/completions", ":authority": "x", "te": "trailers"}
    return b"".join(
        (
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            frame(SETTINGS, 0, 0, b""),
            frame(HEADERS, END_HEADERS, 1, b"".join(field(*pair) for pair in fields.items())),
            *(frame(DATA, 0, 1, body[start : start + 16_384]) for start in range(0, len(body), 16_384)),
            frame(HEADERS, END_HEADERS | END_STREAM, 1, field("x-checksum", "1")),
        )
    )


async def http2_answer(reader: asyncio.StreamReader) -> list[tuple[int, bytes]]:
    """Frames of the first stream until its end."""
    frames: list[tuple[int, bytes]] = []
    while True:
        head = await reader.readexactly(9)
        payload = await reader.readexactly(int.from_bytes(head[:3], "big"))
        kind, flags, stream = head[3], head[4], int.from_bytes(head[5:9], "big")
        assert kind not in {RESET, GOAWAY}, payload
        if stream == 1:
            frames.append((kind, payload))
            if kind in {DATA, HEADERS} and flags & END_STREAM:
                return frames


async def test_answer_passes_byte_for_byte(scenario: Scenario) -> None:
    body = chat_body(3_000_000)

    status, answer = await scenario.post(body, behaviour="echo")

    assert (status, answer) == (200, body)


async def test_unknown_path_takes_the_normal_profile(scenario: Scenario) -> None:
    status, _ = await scenario.post(b"\x00\xff not json", path="/v1/audio/transcriptions")

    assert status == 200
    assert len(scenario.rig.scheduler.seen) == 1


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE"])
async def test_request_without_body_passes_unscheduled(scenario: Scenario, method: str) -> None:
    async with scenario.client.request(method, scenario.url("/v1/models?limit=1")) as response:
        assert response.status == 200
    assert (scenario.upstream.received[0].method, scenario.upstream.received[0].path) == (method, "/v1/models?limit=1")
    assert not scenario.rig.scheduler.seen


async def test_websocket_passes_both_ways(scenario: Scenario) -> None:
    async with scenario.client.ws_connect(scenario.url("/v1/realtime")) as socket:
        for text in ("one", "two"):
            await socket.send_str(text)
            assert await socket.receive_str() == text


@pytest.mark.parametrize("with_body", [True, False], ids=["body", "no-body"])
async def test_routing_headers_of_a_client_choose_nothing(scenario: Scenario, with_body: bool) -> None:
    headers = [
        ("X-Gateway-Destination-Endpoint", "127.0.0.1:1"),
        ("x-gateway-destination-endpoint", "127.0.0.1:2"),
        ("X-Prefiller-Host-Port", "127.0.0.1:3"),
        ("x-prefiller-host-port", "127.0.0.1:4"),
        ("x-encoder-hosts-ports", "127.0.0.1:5"),
        ("x-data-parallel-host-port", "127.0.0.1:6"),
        ("x-kv-cache-source-host-port", "127.0.0.1:7"),
        ("x-llm-d-slo-ttft-ms", "9"),
    ]

    method, data = ("POST", chat_body(100)) if with_body else ("GET", None)
    url = scenario.url("/v1/chat/completions")
    async with scenario.client.request(method, url, data=data, headers=CIMultiDict(headers)) as response:
        assert response.status == 200

    arrived = dict(scenario.upstream.received[0].headers)
    assert not {name.lower() for name, _ in headers[2:]} & arrived.keys()
    assert arrived["x-gateway-destination-endpoint"] == f"127.0.0.1:{scenario.upstream.port}"


async def test_response_keeps_repeated_headers(scenario: Scenario) -> None:
    async with scenario.client.post(
        scenario.url("/v1/chat/completions"), data=chat_body(100), headers={"x-behaviour": "cookies"}
    ) as response:
        assert response.headers.getall("set-cookie") == ["a=1", "b=2"]
        assert response.headers["x-went-into-resp-headers"] == "true"


async def test_model_rewrite_reaches_the_pod(scenario: Scenario) -> None:
    body = chat_body(100)

    async with scenario.client.post(
        scenario.url("/v1/chat/completions"), data=body, headers={"x-llm-d-model-name-rewrite": "another-model"}
    ) as response:
        assert response.status == 200

    wanted = body.replace(b'"m"', b'"another-model"')
    assert scenario.upstream.received[0].sha256 == hashlib.sha256(wanted).hexdigest()
