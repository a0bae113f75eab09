import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest

from router.engine.datalayer.endpoints import Endpoints
from router.engine.discovery.pool import KubernetesEndpoints, PoolReference, Selection, selection
from router.framework.errors import ConfigError
from router.kube.access import Access
from router.kube.client import KubeClient
from tests.support.api_server import PODS, POOLS, ApiServer, pod, pool
from tests.support.waiting import until

REFERENCE = PoolReference(name="p", namespace="default", group="inference.networking.k8s.io")


class Cluster:
    """A discovery that runs against a server."""

    def __init__(self, server: ApiServer, discovery: KubernetesEndpoints) -> None:
        self.server = server
        self.discovery = discovery
        self.endpoints = Endpoints()

    def ids(self) -> list[str]:
        return [endpoint.metadata.id for endpoint in self.endpoints.all()]

    async def becomes(self, *ids: str) -> None:
        await until(lambda: self.ids() == list(ids))


@asynccontextmanager
async def cluster(*objects: tuple[str, dict[str, Any]], fixed: Selection | None = None) -> AsyncGenerator[Cluster]:
    async with ApiServer().run() as server, KubeClient(Access(server=server.url)) as client, asyncio.TaskGroup() as group:
        for collection, found in objects:
            server.put(collection, found)
        discovery = KubernetesEndpoints(client, "default", Random(1), pool=None if fixed else REFERENCE, fixed=fixed)
        rig = Cluster(server, discovery)
        await discovery.load(rig.endpoints)
        task = group.create_task(discovery.run(rig.endpoints))
        yield rig
        task.cancel()


async def test_pods_that_the_pool_selects_are_endpoints() -> None:
    async with cluster((POOLS, pool(8000, 8001)), (PODS, pod("a"))) as rig:
        await rig.becomes("default/a-rank-0", "default/a-rank-1")
        await rig.server.watched(PODS)
        rig.server.put(PODS, pod("b", ip="10.0.0.2"))
        await until(lambda: len(rig.ids()) == 4)

        assert rig.discovery.pool_known
        queries = dict(rig.server.requests)
        assert queries[POOLS]["fieldSelector"] == "metadata.name=p"
        assert queries[PODS]["labelSelector"] == "app=x"


async def test_without_the_pool_object_nothing_is_known() -> None:
    async with cluster((PODS, pod("a"))) as rig:
        await rig.server.watched(POOLS)
        assert (rig.discovery.pool_known, rig.ids()) == (False, [])

        rig.server.put(POOLS, pool(appProtocol="kubernetes.io/h2c"))
        await rig.becomes("default/a-rank-0")

        assert rig.discovery.pool_known
        assert rig.discovery.app_protocol == "kubernetes.io/h2c"


async def test_a_pool_that_is_deleted_takes_its_endpoints_along() -> None:
    async with cluster((POOLS, pool()), (PODS, pod("a"))) as rig:
        await rig.becomes("default/a-rank-0")
        await rig.server.watched(POOLS)
        rig.server.delete(POOLS, "p")
        await rig.becomes()

        assert not rig.discovery.pool_known


async def test_another_selector_or_other_ports_list_all_pods_again() -> None:
    async with cluster((POOLS, pool()), (PODS, pod("a"))) as rig:
        await rig.becomes("default/a-rank-0")
        await rig.server.watched(POOLS)
        rig.server.put(POOLS, pool(8000, 8001, labels={"app": "y", "tier": "z"}))
        await rig.becomes("default/a-rank-0", "default/a-rank-1")

        assert rig.server.lists(PODS) == 2
        assert rig.server.requests[-1][1]["labelSelector"] == "app=y,tier=z"
        assert rig.discovery.pool_known


async def test_other_changes_of_the_pool_leave_its_pods_alone() -> None:
    async with cluster((POOLS, pool()), (PODS, pod("a"))) as rig:
        await rig.becomes("default/a-rank-0")
        await rig.server.watched(POOLS)
        rig.server.put(POOLS, {**pool(), "status": {"parents": []}})
        rig.server.put(PODS, pod("b", ip="10.0.0.2"))
        await rig.becomes("default/a-rank-0", "default/b-rank-0")

        assert rig.server.lists(PODS) == 1


async def test_a_fixed_selector_needs_no_pool() -> None:
    async with cluster((PODS, pod("a")), fixed=Selection(selector="app in (x,y)", ports=(9000,))) as rig:
        await rig.becomes("default/a-rank-0")

        assert rig.discovery.pool_known
        assert rig.server.lists(POOLS) == 0
        assert rig.endpoints.all()[0].metadata.port == 9000
        assert rig.server.requests[0][1]["labelSelector"] == "app in (x,y)"


async def test_field_p47_events_of_a_watch_end_memberships() -> None:
    async with cluster((POOLS, pool()), (PODS, pod("a")), (PODS, pod("b", ip="10.0.0.2")), (PODS, pod("c", ip="10.0.0.3"))) as rig:
        await until(lambda: len(rig.ids()) == 3)
        await rig.server.watched(PODS)
        rig.server.put(PODS, pod("a", ip=None))
        rig.server.put(PODS, pod("b", ip="10.0.0.2", deletionTimestamp="2026-01-01T00:00:00Z"))

        await rig.becomes("default/c-rank-0")


async def test_a_pool_that_says_nothing_usable_is_logged_and_unknown(caplog: pytest.LogCaptureFixture) -> None:
    async with cluster((POOLS, pool(*range(8000, 8009)))) as rig:
        await rig.server.watched(POOLS)

        assert not rig.discovery.pool_known
        assert "pool cannot be used" in caplog.text


@pytest.mark.parametrize(
    "spec",
    [{}, {"selector": {"matchLabels": {"a": "b"}}}, {"targetPorts": [{"number": 1}]}],
    ids=["empty", "no-ports", "no-selector"],
)
def test_a_pool_needs_selector_and_ports(spec: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="matchLabels"):
        selection({"spec": spec})


@pytest.mark.parametrize(
    "spec",
    [{"targetPorts": [{"number": "http"}]}, {"targetPorts": [{}]}, {"selector": "app=x"}],
    ids=["no-number", "no-key", "no-mapping"],
)
def test_an_object_of_another_shape_is_refused(spec: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="is not an InferencePool"):
        selection({"spec": {"selector": {"matchLabels": {"a": "b"}}, **spec}})


def test_the_legacy_version_has_one_port_and_bare_labels() -> None:
    found = selection({"spec": {"selector": {"app": "x"}, "targetPortNumber": 8000}})

    assert found == Selection(selector="app=x", ports=(8000,))
