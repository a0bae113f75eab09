import aiohttp
import pytest
from aiohttp import web

from local.errors import NotReadyError
from local.plan import StackPlan, plan_stack
from local.propagation import KNOWN, wait_known
from tests.support.local_stack import own
from tests.support.loopback import serving
from tests.support.manifests import small_stack
from tests.support.runners import CountingClock


def planned(name: str) -> StackPlan:
    return plan_stack(name, small_stack(replicas=2))


def page(*names: str) -> str:
    return "".join(f'{KNOWN}{{model_server_endpoint="{name}",name="pool"}} 0.0\n' for name in names)


async def test_the_wait_ends_when_the_engine_lists_every_member() -> None:
    plan = planned(own("propagation-all"))
    first, second = (pod.name for pod, _ in plan.model_servers)
    pages = iter(["", page(first), page(first, second)])

    async def metrics(_request: web.Request) -> web.Response:
        return web.Response(text=next(pages))

    host = plan.addresses[plan.pods[0].key]
    async with serving({"/metrics": metrics}, host, 9090), aiohttp.ClientSession() as session:
        await wait_known(session, plan, CountingClock(), 10)

    assert next(pages, None) is None


async def test_an_engine_that_stays_ignorant_is_named() -> None:
    plan = planned(own("propagation-none"))

    async with aiohttp.ClientSession() as session:
        with pytest.raises(NotReadyError, match=rf"the engine of pod {plan.pods[0].name} does not know .*{plan.pods[1].name}"):
            await wait_known(session, plan, CountingClock(), 1)
