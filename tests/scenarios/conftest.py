"""Envoy, engine and model server of a module of scenarios; started once for it."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.support.envoy import EnvoyPorts, running_envoy
from tests.support.scenario import Scenario, running_scenario


@pytest.fixture(scope="module")
def envoy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EnvoyPorts]:
    """Envoy without the filter that removes clients' routing headers, so that the engine's own care is seen."""
    with running_envoy(tmp_path_factory.mktemp("envoy"), guard=False) as ports:
        yield ports


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(envoy: EnvoyPorts) -> AsyncIterator[Scenario]:
    async with running_scenario(envoy) as scenario:
        yield scenario


@pytest_asyncio.fixture(loop_scope="module")
async def scenario(shared: Scenario) -> AsyncIterator[Scenario]:
    """Fresh counters before, and balanced books, one end a request and a working next request after each test."""
    shared.reset()
    yield shared
    await shared.assert_balanced()
