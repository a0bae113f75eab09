"""Waits until the engines have heard of the pods: being ready and being known are two things, in a cluster as here."""

import aiohttp

from local.clock import Clock
from local.counters import fetch_text, samples
from local.errors import NotReadyError
from local.plan import StackPlan

KNOWN = "llm_d_epp_per_endpoint_queue_size"  # one series for each endpoint that an engine chooses from
ENDPOINT = "model_server_endpoint"
PAUSE_SECONDS = 0.05


async def wait_known(session: aiohttp.ClientSession, plan: StackPlan, clock: Clock, timeout_seconds: float) -> None:
    """Return when each engine lists every member of its pool; raises NotReadyError when time is over."""
    deadline = clock.now() + timeout_seconds
    for engine, url in plan.engines:
        members = {pod.name for pod in plan.pods if plan.pools[engine.key].holds(pod)}
        while missing := members - await _known(session, url):
            if clock.now() >= deadline:
                raise NotReadyError(f"the engine of pod {engine.name} does not know {', '.join(sorted(missing))} (asked {url})")
            await clock.sleep(PAUSE_SECONDS)


async def _known(session: aiohttp.ClientSession, url: str) -> set[str]:
    return {labels.get(ENDPOINT, "") for _, labels, _ in samples(await fetch_text(session, url) or "", (KNOWN,))}
