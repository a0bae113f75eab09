import pytest

from simulator.clock import VirtualClock
from tests.support.simulated import chat, image_part, picture, served

CHAT = "/v1/chat/completions"


async def test_the_journal_tells_what_was_received_and_done() -> None:
    async with served() as (_, client):
        async with client.post(CHAT, json=chat(image_part(picture("red", side=500)), max_tokens=2), headers={"x-request-id": "a"}):
            pass
        async with client.get("/sim/journal", params={"since": "0", "path": CHAT}) as response:
            entry = (await response.json())[0]
        async with client.delete("/sim/journal") as response:
            assert response.status == 204
        async with client.get("/sim/journal") as response:
            assert await response.json() == []

    assert (entry["path"], entry["headers"]["x-request-id"], entry["status"], entry["finish_reason"]) == (CHAT, "a", 200, "length")
    assert entry["media"][0]["processor_hit"] is False
    assert "characters)" in entry["body"]["messages"][0]["content"][0]["image_url"]["url"]


async def test_faults_are_added_listed_and_removed() -> None:
    async with served() as (_, client):
        async with client.post("/sim/faults", json={"id": "f", "effect": {"kind": "status", "status": 503}}) as response:
            assert await response.json() == {"id": "f"}
        async with client.post(CHAT, json=chat("x")) as response:
            assert response.status == 503
        async with client.get("/sim/faults") as response:
            assert [f["id"] for f in await response.json()] == ["f"]
        async with client.delete("/sim/faults", params={"id": "f"}):
            pass
        async with client.post(CHAT, json=chat("x")) as response:
            assert response.status == 200


async def test_a_bad_fault_is_400_and_says_what_is_allowed() -> None:
    async with served() as (_, client), client.post("/sim/faults", json={"effect": {"kind": "explode"}}) as response:
        assert response.status == 400
        assert "cut_stream" in (await response.json())["error"]["message"]


async def test_state_and_reset() -> None:
    async with served() as (_, client):
        async with client.post(CHAT, json=chat("word " * 50, image_part(picture("red")))):
            pass
        async with client.get("/sim/state") as response:
            before = await response.json()
        async with client.post("/sim/reset") as response:
            assert response.status == 204
        async with client.get("/sim/state") as response:
            after = await response.json()

    assert before["role"] == "aggregated"
    assert before["blocks"]["cached"] > 0
    assert before["encoder_cache"]["items"] == 1
    assert (after["blocks"]["cached"], after["encoder_cache"]["items"]) == (0, 0)
    assert after["blocks"]["free"] == after["blocks"]["total"]


async def test_a_virtual_clock_is_moved_by_hand() -> None:
    async with served(clock=VirtualClock(start=10)) as (_, client), client.post("/sim/clock", json={"advance_ms": 500}) as response:
        assert await response.json() == {"now": 10.5}


@pytest.mark.parametrize(("path", "body"), [("/sim/clock", {"advance_ms": 1}), ("/sim/faults", 5)])
async def test_what_cannot_be_done_is_400(path: str, body: object) -> None:
    async with served() as (_, client), client.post(path, json=body) as response:
        assert response.status == 400


async def test_settings_are_read_and_changed_while_running() -> None:
    async with served() as (_, client):
        async with client.patch("/sim/config", json={"output": "fixed:hello", "error-format": "flat"}) as response:
            assert response.status == 200
        async with client.get("/sim/config") as response:
            assert (await response.json())["output"] == "fixed:hello"
        async with client.post(CHAT, json=chat("x")) as response:
            assert (await response.json())["choices"][0]["message"]["content"] == "hello"
        async with client.post(CHAT, json=chat("x", max_tokens=0)) as response:
            assert (await response.json())["object"] == "error"


@pytest.mark.parametrize("document", [{"speed": 1}, {"startup-delay": 1}, [], {"time_scale": "x"}])
async def test_a_setting_that_cannot_be_changed_is_400(document: object) -> None:
    async with served() as (_, client), client.patch("/sim/config", json=document) as response:
        assert response.status == 400
