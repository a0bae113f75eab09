import io
import json
from typing import Any

import aiohttp
import pytest

from simulator.options import parse
from tests.support.simulated import MODEL, chat, counter, image_part, picture, served

CHAT = "/v1/chat/completions"


@pytest.mark.parametrize("path", ["/health", "/ping"])
async def test_health_is_200_and_empty(path: str) -> None:
    async with served() as (_, client), client.get(path) as response:
        assert (response.status, await response.read()) == (200, b"")


async def test_models_and_version() -> None:
    async with served("--served-model-name", "a", "b", "--max-model-len", "99") as (_, client):
        async with client.get("/v1/models") as response:
            models = (await response.json())["data"]
        async with client.get("/version") as response:
            version = await response.json()

    assert [(m["id"], m["root"], m["max_model_len"]) for m in models] == [("a", MODEL, 99), ("b", MODEL, 99)]
    assert set(version) == {"version"}


@pytest.mark.parametrize(
    ("method", "path", "status", "detail"),
    [
        ("GET", CHAT, 405, "Method Not Allowed"),
        ("GET", "/nowhere", 404, "Not Found"),
        ("POST", "/nowhere", 404, "Not Found"),
        ("DELETE", "/v1/models", 405, "Method Not Allowed"),
    ],
)
async def test_wrong_method_and_unknown_path(method: str, path: str, status: int, detail: str) -> None:
    async with served() as (_, client), client.request(method, path) as response:
        assert (response.status, await response.json()) == (status, {"detail": detail})


async def test_head() -> None:
    async with served() as (_, client):
        async with client.head("/v1/models") as response:
            assert (response.status, await response.read()) == (200, b"")
        async with client.head(CHAT) as response:
            assert response.status == 405


@pytest.mark.parametrize("content", [b"", b"[1", b"[]", b"null"])
async def test_bodies_that_are_no_json_object(content: bytes) -> None:
    async with served() as (_, client), client.post(CHAT, data=content, headers={"content-type": "application/json"}) as response:
        error = (await response.json())["error"]

        assert (response.status, error["type"], error["code"]) == (400, "Bad Request", 400)


async def test_a_20_mb_body_passes() -> None:
    body = chat("Which colour?", image_part(picture("brown") + bytes(15_000_000)), max_tokens=8)
    content, headers = io.BytesIO(json.dumps(body).encode()), {"content-type": "application/json"}
    async with served() as (server, client), client.post(CHAT, data=content, headers=headers) as response:
        assert (await response.json())["choices"][0]["message"]["content"] == "The image is brown."
        assert len(json.dumps(server.journal.since())) < 10_000


async def test_tokenize_and_detokenize() -> None:
    async with served() as (_, client):
        async with client.post("/tokenize", json={"model": MODEL, "prompt": "How are you?"}) as response:
            tokens = await response.json()
        async with client.post("/detokenize", json={"tokens": tokens["tokens"]}) as response:
            assert await response.json() == {"prompt": "How are you?"}
        async with client.post("/detokenize", json={"tokens": "x"}) as response:
            assert response.status == 400

    assert tokens["count"] == len(tokens["tokens"]) == 4
    assert tokens["max_model_len"] == 32_768


async def test_render_gives_ids_and_placeholders() -> None:
    async with served() as (_, client):
        async with client.post(f"{CHAT}/render", json=chat(image_part(picture("red")))) as response:
            rendered: dict[str, Any] = await response.json()
        async with client.post("/v1/completions/render", json={"prompt": ["a", "b"]}) as response:
            assert len(await response.json()) == 2

        place = rendered["features"]["mm_placeholders"]["image"][0]
        assert place["length"] == 64
        assert len(set(rendered["token_ids"][place["offset"] : place["offset"] + 64])) == 1
        assert len(rendered["features"]["mm_hashes"]["image"][0]) == 64
        assert await counter(client, "vllm:request_success_total") == 0


async def test_a_key_is_asked_for_on_v1_only() -> None:
    async with served("--api-key", "secret") as (_, client):
        async with client.get("/v1/models") as response:
            assert (response.status, (await response.json())["error"]["type"]) == (401, "AuthenticationError")
        async with client.get("/v1/models", headers={"authorization": "Bearer secret"}) as response:
            assert response.status == 200
        async with client.get("/health") as response:
            assert response.status == 200


async def with_fault(effect: dict[str, Any], body: dict[str, Any]) -> tuple[int, str]:
    async with served() as (server, client):
        server.faults.add({"effect": effect, "count": 1})
        async with client.post(CHAT, json=body) as response:
            return response.status, await response.text()


async def test_fault_status() -> None:
    assert await with_fault({"kind": "status", "status": 503, "body": {"error": "busy"}}, chat("x")) == (503, '{"error":"busy"}')


async def test_fault_delay_and_garbage() -> None:
    assert (await with_fault({"kind": "delay", "ms": 1}, chat("x")))[0] == 200
    assert await with_fault({"kind": "garbage"}, chat("x")) == (200, "<html>not json")


@pytest.mark.parametrize(
    ("effect", "stream"),
    [
        ({"kind": "reset"}, False),
        ({"kind": "truncate_body"}, False),
        ({"kind": "cut_stream", "events": 2}, True),
        ({"kind": "cut_stream"}, False),
    ],
    ids=["reset", "truncate_body", "cut_stream", "cut_body"],
)
async def test_fault_that_breaks_the_connection(effect: dict[str, Any], *, stream: bool) -> None:
    with pytest.raises(aiohttp.ClientError):
        await with_fault(effect, chat("x", stream=stream))


async def test_fault_hang_ends_with_the_client() -> None:
    async with served() as (server, client):
        server.faults.add({"effect": {"kind": "hang"}, "count": 1})
        with pytest.raises(TimeoutError):
            await client.post(CHAT, json=chat("x"), timeout=aiohttp.ClientTimeout(total=0.05))
        async with client.post(CHAT, json=chat("x")) as response:
            assert response.status == 200


async def test_fault_unhealthy() -> None:
    async with served() as (server, client):
        server.faults.add({"effect": {"kind": "unhealthy"}})
        async with client.get("/health") as response:
            assert response.status == 503


async def test_fault_metrics_fails_or_stands_still() -> None:
    async with served() as (server, client):
        server.faults.add({"effect": {"kind": "metrics", "mode": "frozen"}})
        before = await counter(client, "vllm:generation_tokens_total")
        async with client.post(CHAT, json=chat("x", max_tokens=3)):
            pass
        assert await counter(client, "vllm:generation_tokens_total") == before == 0

        server.faults.remove()
        assert await counter(client, "vllm:generation_tokens_total") == 3
        server.faults.add({"effect": {"kind": "metrics"}})
        async with client.get("/metrics") as response:
            assert response.status == 500


async def test_a_request_can_carry_its_own_fault_where_allowed() -> None:
    own = {"x-sim-fault": '{"kind":"status","status":429}'}
    assert parse([MODEL, "--sim-allow-request-faults"], {}).request_faults
    for flags, status in (((), 200), (("--sim-allow-request-faults",), 429)):
        async with served(*flags) as (_, client), client.post(CHAT, json=chat("x"), headers=own) as response:
            assert response.status == status


async def test_a_bad_own_fault_is_400() -> None:
    async with (
        served("--sim-allow-request-faults") as (_, client),
        client.post(CHAT, json=chat("x"), headers={"x-sim-fault": "{"}) as response,
    ):
        assert response.status == 400


async def test_requests_are_counted_by_path_and_status() -> None:
    async with served() as (_, client):
        async with client.get("/nowhere"):
            pass

        assert await counter(client, 'http_requests_total{handler="other",method="GET",status="404"}') == 1


async def test_a_body_above_the_limit_is_413() -> None:
    async with served("--sim-max-body-mb", "1") as (_, client):
        content, headers = io.BytesIO(json.dumps(chat("x" * 2_000_000)).encode()), {"content-type": "application/json"}
        async with client.post(CHAT, data=content, headers=headers) as response:
            assert response.status == 413
        async with client.post(CHAT, json=chat("x")) as response:
            assert response.status == 200


async def test_every_answer_names_its_pod_when_asked_to() -> None:
    async with served("--sim-response-headers") as (server, client):
        for path in ("/health", "/nowhere"):
            async with client.get(path) as response:
                assert response.headers["x-inference-port"] == server.url.rsplit(":", 1)[1]
        async with client.post(CHAT, json=chat("x", stream=True)) as response:
            assert {"x-inference-pod", "x-inference-namespace"} <= {name.lower() for name in response.headers}
