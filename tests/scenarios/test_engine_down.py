"""While no engine answers, nothing a client sends chooses where its request goes."""

import io
from collections.abc import AsyncIterator, Iterator

import aiohttp
import pytest
import pytest_asyncio

from router import wire
from tests.support.envoy import EnvoyPorts, running_envoy
from tests.support.upstream import Upstream, running_upstream

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.xdist_group("envoy-down")]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EnvoyPorts]:
    with running_envoy(tmp_path_factory.mktemp("envoy"), guard=True) as ports:
        yield ports


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def upstream() -> AsyncIterator[Upstream]:
    async with running_upstream() as server:
        yield server


@pytest.mark.parametrize("size", [0, 100, 200_000], ids=["no-body", "small", "large"])
@pytest.mark.parametrize("name", [wire.DESTINATION, "X-Gateway-Destination-Endpoint", *wire.ROUTING_HEADERS])
async def test_client_header_reaches_no_pod(guarded: EnvoyPorts, upstream: Upstream, name: str, size: int) -> None:
    url = f"http://127.0.0.1:{guarded.proxy}/v1/chat/completions"
    headers = {name: f"127.0.0.1:{upstream.port}"}

    async with aiohttp.ClientSession() as client, client.post(url, data=io.BytesIO(b"x" * size), headers=headers) as response:
        assert response.status in {500, 503}

    assert not upstream.received
