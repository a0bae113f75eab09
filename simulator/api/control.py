"""`/sim/…`: looking into the server and changing it while it runs."""

from collections.abc import Callable
from typing import Any

import msgspec
from aiohttp import web

from simulator.clock import VirtualClock
from simulator.engine.loop import Engine
from simulator.errors import ApiError, OptionsError
from simulator.faults import Faults
from simulator.journal import Journal
from simulator.options import RUNTIME, Options, changed


class Control:
    """Handlers of `/sim/…`."""

    def __init__(
        self, engine: Engine, faults: Faults, journal: Journal, reset: Callable[[], None], configure: Callable[[Options], None]
    ) -> None:
        self._engine, self._faults, self._journal, self._reset, self._configure = engine, faults, journal, reset, configure

    def add_routes(self, app: web.Application) -> None:
        """Register the paths."""
        app.router.add_get("/sim/state", self.state)
        app.router.add_get("/sim/journal", self.journal)
        app.router.add_delete("/sim/journal", self.clear_journal)
        app.router.add_get("/sim/config", self.config)
        app.router.add_patch("/sim/config", self.change_config)
        app.router.add_get("/sim/faults", self.faults)
        app.router.add_post("/sim/faults", self.add_fault)
        app.router.add_delete("/sim/faults", self.remove_faults)
        app.router.add_post("/sim/reset", self.reset)
        app.router.add_post("/sim/clock", self.advance)

    async def state(self, _: web.Request) -> web.Response:
        """Queues, blocks, caches, faults."""
        scheduler, pool = self._engine.scheduler, self._engine.pool
        return _json(
            {
                "role": "aggregated",
                "running": len(scheduler.running),
                "waiting": len(scheduler.waiting),
                "blocks": {"total": pool.count, "free": pool.free, "cached": pool.cached},
                "encoder_cache": {"items": len(self._engine.encoder_cache), "newest": self._engine.encoder_cache.newest(10)},
                "faults": self._faults.active(),
            }
        )

    async def journal(self, request: web.Request) -> web.Response:
        """Received requests: `?since=N&path=/v1/…`."""
        return _json(self._journal.since(int(request.query.get("since", 0)), request.query.get("path")))

    async def clear_journal(self, _: web.Request) -> web.Response:
        """Empty it."""
        self._journal.clear()
        return web.Response(status=204)

    async def config(self, _: web.Request) -> web.Response:
        """The settings that may change while the server runs."""
        return _json({name: getattr(self._engine.options, name) for name in RUNTIME})

    async def change_config(self, request: web.Request) -> web.Response:
        """Change some: the `--sim-…` flags by name, without their prefix."""
        try:
            document: Any = msgspec.json.decode(await request.read())
            if not isinstance(document, dict):
                raise OptionsError("settings are a JSON object")
            self._configure(changed(self._engine.options, document))
        except (OptionsError, msgspec.DecodeError) as error:
            raise ApiError(400, str(error)) from error
        return await self.config(request)

    async def faults(self, _: web.Request) -> web.Response:
        """Active faults."""
        return _json(self._faults.active())

    async def add_fault(self, request: web.Request) -> web.Response:
        """Activate one; answers with its id."""
        try:
            return _json({"id": self._faults.add(msgspec.json.decode(await request.read()))})
        except (OptionsError, msgspec.DecodeError) as error:
            raise ApiError(400, str(error)) from error

    async def remove_faults(self, request: web.Request) -> web.Response:
        """End one (`?id=`) or all."""
        self._faults.remove(request.query.get("id"))
        return web.Response(status=204)

    async def reset(self, _: web.Request) -> web.Response:
        """Forget caches, counters, journal and faults."""
        self._reset()
        return web.Response(status=204)

    async def advance(self, request: web.Request) -> web.Response:
        """Move a virtual clock on: `{"advance_ms": N}`."""
        clock = self._engine.clock
        if not isinstance(clock, VirtualClock):
            raise ApiError(400, "the clock is real")
        await clock.advance(float(msgspec.json.decode(await request.read())["advance_ms"]) / 1000)
        return _json({"now": clock.now()})


def _json(value: Any) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), content_type="application/json")
