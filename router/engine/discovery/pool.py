"""Endpoints from the Kubernetes API: the pods that an InferencePool, or a selector on the command line, selects."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from router.engine.datalayer.endpoints import Endpoints
from router.engine.discovery.pods import PodFollower
from router.framework.errors import ConfigError
from router.kube.watcher import Calls, Collection, Follower, Watcher

MAX_TARGET_PORTS = 8

Object = Mapping[str, Any]
WatcherFor = Callable[[Collection, Follower], Watcher]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which pods, and which of their ports."""

    selector: str  # as the API server takes it
    ports: tuple[int, ...]
    app_protocol: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolReference:
    """The pool to follow."""

    name: str
    namespace: str
    group: str


def selection(pool: Object) -> Selection:
    """What the pool object selects. Raises ConfigError when it says nothing usable."""
    spec = pool.get("spec") or {}
    try:
        selector = spec.get("selector") or {}
        labels = dict(selector.get("matchLabels") or selector)  # the legacy version has the labels here, and one port
        listed = spec.get("targetPorts") or ([{"number": spec["targetPortNumber"]}] if spec.get("targetPortNumber") else [])
        ports = tuple(int(port["number"]) for port in listed)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"is not an InferencePool: {error!r}") from None
    if not labels or not 1 <= len(ports) <= MAX_TARGET_PORTS:
        raise ConfigError(f"needs spec.selector.matchLabels and 1 to {MAX_TARGET_PORTS} spec.targetPorts")
    return Selection(
        selector=",".join(f"{name}={value}" for name, value in sorted(labels.items())),
        ports=ports,
        app_protocol=spec.get("appProtocol") or "",
    )


class KubernetesEndpoints:
    """Discovery by watching pods; what is selected may change at any time."""

    def __init__(self, calls: Calls, namespace: str, random: Random, *, pool: PoolReference | None, fixed: Selection | None = None) -> None:
        """`pool`: follow its object; without it, `fixed` is the selection for ever."""
        self._calls = calls
        self._namespace = namespace
        self._random = random
        self._pool = pool
        self._selection = fixed
        self._reselected = asyncio.Event()
        self._pods: PodFollower | None = None
        self._listed = False

    @property
    def pool_known(self) -> bool:
        """The pool was read, and pods of it were listed once."""
        self._listed = self._listed or (self._pods is not None and self._pods.synced)
        return self._selection is not None and self._listed

    @property
    def app_protocol(self) -> str:
        """What the pool says its endpoints speak; empty: nothing."""
        return self._selection.app_protocol if self._selection else ""

    async def load(self, endpoints: Endpoints) -> None:
        """Nothing: the servers start first, and health tells when the pool is known."""

    async def run(self, endpoints: Endpoints) -> None:
        """Follow pool and pods until cancelled."""
        async with asyncio.TaskGroup() as group:
            if self._pool is not None:
                group.create_task(self._watcher(_pool_collection(self._pool), _PoolFollower(self._select)).run())
            while True:
                pods = group.create_task(self._follow_pods(endpoints))
                await self._reselected.wait()
                self._reselected.clear()
                pods.cancel()
                await asyncio.wait((pods,))

    async def _follow_pods(self, endpoints: Endpoints) -> None:
        """Follow the pods of the selection as it is; without one there are no endpoints."""
        chosen = self._selection
        if chosen is None:
            self._pods, self._listed = None, False
            endpoints.clear()
            return
        self._pods = PodFollower(endpoints, chosen.ports)
        where = Collection(path=f"/api/v1/namespaces/{self._namespace}/pods", query={"labelSelector": chosen.selector})
        await self._watcher(where, self._pods).run()

    def _select(self, pool: Object | None) -> None:
        chosen = None
        try:
            chosen = selection(pool) if pool is not None else None
        except ConfigError as error:
            _log.error("pool cannot be used", extra={"fields": {"error": str(error)}})
        if chosen != self._selection:
            _log.info("pool changed", extra={"fields": {"selector": chosen.selector if chosen else None}})
            self._selection = chosen
            self._reselected.set()

    def _watcher(self, where: Collection, follower: Follower) -> Watcher:
        return Watcher(self._calls, where, follower, random=self._random)


class _PoolFollower:
    """Hears of one pool object."""

    def __init__(self, select: Callable[[Object | None], None]) -> None:
        self._select = select

    def listed(self, objects: Sequence[Object]) -> None:
        """The pool, or nothing when it does not exist."""
        self._select(objects[0] if objects else None)

    def changed(self, found: Object) -> None:
        """The pool as it is now."""
        self._select(found)

    def deleted(self, found: Object) -> None:
        """The pool is gone."""
        self._select(None)


def _pool_collection(pool: PoolReference) -> Collection:
    return Collection(
        path=f"/apis/{pool.group}/{_version(pool.group)}/namespaces/{pool.namespace}/inferencepools",
        query={"fieldSelector": f"metadata.name={pool.name}"},
    )


def _version(group: str) -> str:
    """The legacy group never got further than its second alpha."""
    return "v1alpha2" if group.endswith("x-k8s.io") else "v1"
