"""Encode, prefill and decode pods behind real Envoy and a real engine: who is asked, and who is told of whom."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import aiohttp
import pytest
import yaml

from router.wire import ENCODERS, PREFILLER, ROLE_LABEL
from tests.support.documents import E_P_D, E_PD
from tests.support.engine_process import EngineProcess, engine
from tests.support.envoy import EnvoyPorts, running_envoy
from tests.support.scenario import SETTLE_ATTEMPTS
from tests.support.staged import PICTURE
from tests.support.upstream import Received, Upstream, running_upstream

ENCODE, PREFILL = "127.0.0.1:9", "127.0.0.1:19"  # nobody is there: only the decode pod is asked
CHAT = "/v1/chat/completions"


def write_document(folder: Path, text: str, endpoints: Mapping[str, tuple[str, str]]) -> Path:
    """A topology's document with its endpoints in a file: name -> (role, address and port)."""
    listed = [
        {"name": name, "address": place.partition(":")[0], "port": place.partition(":")[2], "labels": {ROLE_LABEL: role}}
        for name, (role, place) in endpoints.items()
    ]
    (folder / "endpoints.json").write_text(json.dumps({"endpoints": listed}))
    document = yaml.safe_load(text)
    document["plugins"].append({"type": "file-discovery", "parameters": {"path": str(folder / "endpoints.json")}})
    document["dataLayer"] = {"discovery": {"pluginRef": "file-discovery"}}
    (folder / "engine.yaml").write_text(yaml.safe_dump(document))
    return folder / "engine.yaml"


def chat(*media: str) -> bytes:
    parts = [{"type": "text", "text": "what is this?"}, *({"type": "image_url", "image_url": {"url": url}} for url in media)]
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": parts}]}).encode()


@contextmanager
def proxied(folder: Path, document: Path) -> Generator[tuple[EnvoyPorts, EngineProcess]]:
    """Envoy in front of an engine with this document."""
    with running_envoy(folder) as ports:
        arguments = (f"--config-file={document}", "--secure-serving=false", "--drain-timeout=0s", f"--grpc-port={ports.engine}")
        with engine(*arguments) as running:
            yield ports, running


class Served:
    """What a client sends, what the decode pod gets, what the engine counts."""

    def __init__(self, ports: EnvoyPorts, running: EngineProcess, upstream: Upstream, client: aiohttp.ClientSession) -> None:
        self._ports, self._running, self._upstream, self._client = ports, running, upstream, client

    async def post(self, body: bytes, **headers: str) -> Received:
        """A request that the decode pod answers, as it arrived there."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self._client.post(f"http://127.0.0.1:{self._ports.proxy}{CHAT}", data=body, headers=named) as answer:
            assert answer.status == 200, await answer.text()
        return next(received for received in reversed(self._upstream.received) if received.path == CHAT)  # the engine polls there, too

    async def metric(self, pattern: str) -> list[str]:
        """Values of the engine's samples whose line begins like this."""
        async with self._client.get(f"http://127.0.0.1:{self._running.ports['metrics']}/metrics") as answer:
            return re.findall(rf"^{pattern}.* (\S+)$", await answer.text(), re.MULTILINE)

    async def settled(self, pattern: str, values: list[str]) -> None:
        """Wait for a metric: a client has its answer before the engine hears of its end."""
        for _ in range(SETTLE_ATTEMPTS):
            if await self.metric(pattern) == values:
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"{pattern} stays {await self.metric(pattern)}, not {values}")


@asynccontextmanager
async def serving(folder: Path, text: str, endpoints: Mapping[str, tuple[str, str]], role: str = "decode") -> AsyncGenerator[Served]:
    """The whole path; the decode pod is added to `endpoints`."""
    async with running_upstream() as upstream, aiohttp.ClientSession() as client:
        document = write_document(folder, text, {**endpoints, "d": (role, f"127.0.0.1:{upstream.port}")})
        with proxied(folder, document) as (ports, running):
            yield Served(ports, running, upstream, client)


def routing(received: Received) -> dict[str, str]:
    return {name: value for name, value in received.headers if name in (ENCODERS, PREFILLER)}


@pytest.mark.parametrize("media", [(), (PICTURE,)], ids=["I22", "I23"])
async def test_the_decode_pod_is_told_who_does_the_other_stages(tmp_path: Path, media: tuple[str, ...]) -> None:
    async with serving(tmp_path, E_P_D, {"e": ("encode", ENCODE), "p": ("prefill", PREFILL)}) as served:
        received = await served.post(chat(*media), x_prefiller_host_port="1.2.3.4:1", x_encoder_hosts_ports="1.2.3.4:2")

        assert routing(received) == {PREFILLER: PREFILL, **({ENCODERS: ENCODE} if media else {})}
        decision = "encode-prefill-decode" if media else "prefill-decode"
        assert await served.metric(rf'llm_d_epp_disagg_decision_total{{.*decision_type="{decision}"') == ["1.0"]


async def test_I21_media_are_encoded_elsewhere_and_text_is_not(tmp_path: Path) -> None:
    async with serving(tmp_path, E_PD, {"e": ("encode", ENCODE)}, role="prefill-decode") as served:
        assert routing(await served.post(chat(PICTURE))) == {ENCODERS: ENCODE}
        assert routing(await served.post(chat(), x_encoder_hosts_ports="1.2.3.4:2")) == {}


async def test_I24_without_encode_pod_media_are_served_all_the_same(tmp_path: Path) -> None:
    async with serving(tmp_path, E_P_D, {"p": ("prefill", PREFILL)}) as served:
        assert routing(await served.post(chat(PICTURE))) == {PREFILLER: PREFILL}


async def test_field_P36_the_encoder_that_knows_a_picture_gets_it_again(tmp_path: Path) -> None:
    encoders = {f"e{number}": ("encode", f"127.0.0.1:{number}") for number in range(10, 14)}
    async with serving(tmp_path, E_P_D, {**encoders, "p": ("prefill", PREFILL)}) as served:
        first = routing(await served.post(chat(PICTURE)))
        second = routing(await served.post(chat(PICTURE)))

        assert second[ENCODERS] == first[ENCODERS]
        pod = next(name for name, (_, place) in encoders.items() if place == first[ENCODERS])
        assert await served.metric("llm_d_epp_encoder_cache_hits_total{") == ["1.0"]
        assert await served.metric("llm_d_epp_encoder_cache_hit_ratio_count{") == ["12.0"]  # two requests, six candidates
        assert await served.metric(f'llm_d_epp_encoder_cache_hits_total{{.*pod="{pod}"') == ["1.0"]


async def test_books_are_empty_after_many_requests_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path, E_P_D, {"e": ("encode", ENCODE), "p": ("prefill", PREFILL)}) as served:
        await asyncio.gather(*(served.post(chat(PICTURE) if number % 2 else chat()) for number in range(40)))

        for gauge in ("requests", "tokens"):
            await served.settled(f"llm_d_epp_inflight_{gauge}{{", ["0.0"] * 3)
        await served.settled("llm_d_epp_request_running{", ["0.0"])
