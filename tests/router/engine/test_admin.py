import asyncio
import ssl
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from router.engine.admin import AdminServer, Pages
from router.framework.errors import ConfigError
from router.framework.plugin import Plugin
from router.tls import server_context
from tests.support.certificates import write_certificate


def metrics(accept: str) -> tuple[Iterable[bytes], str]:
    return (b"page for ", f"{accept or 'anyone'}\n".encode()), "text/plain; version=1.0.0; charset=utf-8"


class Stateful(Plugin):
    def debug_state(self) -> Any | None:
        return {"pods": 3}


@asynccontextmanager
async def serving(pages: Pages, tls: ssl.SSLContext | None = None) -> AsyncGenerator[str]:
    server = AdminServer(pages, "127.0.0.1", 0, tls)
    port = await server.start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    finally:
        await server.stop()


async def get(url: str, **options: Any) -> tuple[int, str, str]:
    async with aiohttp.ClientSession() as session, session.get(url, **options) as answer:
        return answer.status, answer.headers.get("Content-Type", ""), await answer.text()


async def test_metrics_come_in_the_form_that_is_asked_for() -> None:
    async with serving(Pages(metrics=metrics)) as url:
        answer = await get(f"{url}/metrics", headers={"Accept": "application/openmetrics-text"})

        assert answer == (200, "text/plain; version=1.0.0; charset=utf-8", "page for application/openmetrics-text\n")


async def test_other_work_is_done_between_two_pieces_of_a_page() -> None:
    done: list[str] = []

    def pieces(_: str) -> tuple[Iterable[bytes], str]:
        loop = asyncio.get_running_loop()

        def made() -> Iterable[bytes]:
            for name in ("one", "two"):
                loop.call_soon(done.append, f"other work after {name}")
                done.append(name)
                yield name.encode()

        return made(), "text/plain"

    async with serving(Pages(metrics=pieces)) as url:
        _, _, page = await get(f"{url}/metrics")

    assert page == "onetwo"
    assert done == ["one", "other work after one", "two", "other work after two"]


async def test_plugin_state_lists_plugins_that_have_one() -> None:
    async with serving(Pages(metrics=metrics, plugins={"a": Stateful("a"), "b": Plugin("b")})) as url:
        status, _, text = await get(f"{url}/debug/plugins/state")

        assert (status, text) == (200, '{"a": {"pods": 3}}')


@pytest.mark.parametrize("path", ["/debug/plugins/state", "/debug/tasks", "/"])
async def test_what_is_switched_off_is_not_found(path: str) -> None:
    async with serving(Pages(metrics=metrics)) as url:
        status, _, _ = await get(url + path)

        assert status == 404


async def test_tasks_can_be_looked_at() -> None:
    async with serving(Pages(metrics=metrics, debug=True)) as url:
        status, _, text = await get(f"{url}/debug/tasks")

        assert status == 200
        assert "Stack for" in text


async def test_a_profile_names_functions() -> None:
    async with serving(Pages(metrics=metrics, debug=True)) as url:
        status, _, text = await get(f"{url}/debug/profile?seconds=0.01")

        assert status == 200
        assert "tottime" in text


@pytest.mark.parametrize("seconds", ["x", "-1", "61", "nan"])
async def test_a_profile_has_a_sensible_length(seconds: str) -> None:
    async with serving(Pages(metrics=metrics, debug=True)) as url:
        status, _, text = await get(f"{url}/debug/profile?seconds={seconds}")

        assert (status, text) == (400, "seconds: allowed are 0 to 60\n")


async def test_one_profile_is_taken_at_a_time() -> None:
    async with serving(Pages(metrics=metrics, debug=True)) as url:
        answers = await asyncio.gather(*(get(f"{url}/debug/profile?seconds=0.2") for _ in range(2)))

        assert sorted(status for status, _, _ in answers) == [200, 409]


@pytest.mark.parametrize(("authorization", "status"), [("", 401), ("Bearer no", 403), ("Bearer yes", 200)])
async def test_pages_ask_who_may_read(authorization: str, status: int) -> None:
    async def allow(given: str, path: str) -> int:
        assert path == "/metrics"
        return {"": 401, "Bearer no": 403}.get(given, 200)

    async with serving(Pages(metrics=metrics, allow=allow)) as url:
        found, _, _ = await get(f"{url}/metrics", headers={"Authorization": authorization} if authorization else {})

        assert found == status


async def test_the_port_can_speak_tls(tmp_path: Path) -> None:
    write_certificate(tmp_path)
    trust = ssl.create_default_context(cafile=str(tmp_path / "tls.crt"))
    async with serving(Pages(metrics=metrics), server_context(tmp_path)) as url:
        status, _, _ = await get(f"{url}/metrics", ssl=trust)

        assert status == 200


async def test_a_taken_port_is_a_configuration_error() -> None:
    async with serving(Pages(metrics=metrics)) as url:
        port = int(url.rpartition(":")[2])

        with pytest.raises(ConfigError, match=f"metrics port: cannot listen on 127.0.0.1:{port}"):
            await AdminServer(Pages(metrics=metrics), "127.0.0.1", port).start()
