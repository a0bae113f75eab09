import asyncio
import json
import os
from pathlib import Path

import pytest

from router.engine.datalayer.endpoints import Endpoints
from router.engine.discovery.static import MAX_FILE_BYTES, FileEndpoints, read
from router.framework.errors import ConfigError
from tests.support.waiting import until

TWO = """endpoints:
- {name: a, address: 10.0.0.1}
- {name: b, namespace: n, address: "fd00::1", port: "8001", labels: {llm-d.ai/role: decode}}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "endpoints.yaml"


def put(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def write(path: Path, text: str) -> None:
    """Replace the file in one step, as careful writers do."""
    temporary = path.with_suffix(".new")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def names(endpoints: Endpoints) -> list[str]:
    return [endpoint.metadata.name for endpoint in endpoints.all()]


def test_entries_become_endpoints_with_defaults(path: Path) -> None:
    put(path, TWO)

    first, second = read(path)

    assert (first.id, first.host_port, first.labels) == ("default/a", "10.0.0.1:8000", {})
    assert (second.id, second.host_port, second.labels) == ("n/b", "[fd00::1]:8001", {"llm-d.ai/role": "decode"})


def test_json_is_read_too(path: Path) -> None:
    put(path, json.dumps({"endpoints": [{"name": "a", "address": "10.0.0.1", "port": "9000"}]}))

    assert [metadata.port for metadata in read(path)] == [9000]


def test_a_port_may_be_written_as_a_number(path: Path) -> None:
    put(path, "endpoints: [{name: a, address: 10.0.0.1, port: 9000}]")

    assert [metadata.port for metadata in read(path)] == [9000]


@pytest.mark.parametrize("text", ["", "endpoints: []", "endpoints:\n"], ids=["empty", "none", "null"])
def test_there_may_be_no_endpoints(path: Path, text: str) -> None:
    put(path, text)

    assert read(path) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("endpoints: [{address: 10.0.0.1}]", r"endpoints\[0\]\.name.*required", id="no-name"),
        pytest.param("endpoints: [{name: '', address: 10.0.0.1}]", "must not be empty", id="empty-name"),
        pytest.param("endpoints: [{name: a}]", "address.*required", id="no-address"),
        pytest.param("endpoints: [{name: a, address: example.com}]", "'example.com' is not an IPv4 or IPv6", id="host-name"),
        pytest.param("endpoints: [{name: a, address: 10.0.0.1, port: '0'}]", "'0' is not a port", id="port-0"),
        pytest.param("endpoints: [{name: a, address: 10.0.0.1, port: http}]", "is not a port", id="port-name"),
        pytest.param("endpoints: [{name: a, address: 10.0.0.1, port: true}]", "is not a port", id="port-boolean"),
        pytest.param("endpoints: [{name: a, address: 10.0.0.1, prot: '1'}]", 'did you mean "port"', id="typo"),
        pytest.param("endpoints: [{name: a, address: 10.0.0.1}, {name: a, address: 10.0.0.2}]", '"default/a" is listed twice', id="twice"),
        pytest.param("endpoints: [", "is neither YAML nor JSON", id="broken-yaml"),
        pytest.param("{", "is neither YAML nor JSON", id="broken-json"),
        pytest.param("- a", "is not allowed here", id="list"),
        pytest.param("# " + "x" * MAX_FILE_BYTES, "larger than", id="too-large"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_path(path: Path, text: str, expected: str) -> None:
    put(path, text)

    with pytest.raises(ConfigError, match=expected) as refused:
        read(path)
    assert str(path) in str(refused.value)


async def test_the_first_load_must_succeed(path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        await FileEndpoints(path, watch=True).load(Endpoints())


class Looks:
    """A watched file whose discovery looks when it is told to."""

    def __init__(self, path: Path) -> None:
        self.discovery = FileEndpoints(path, watch=True)
        self.endpoints = Endpoints()

    def look(self) -> list[str]:
        self.discovery.look(self.endpoints)
        return names(self.endpoints)


async def test_an_atomic_replacement_is_taken_over(path: Path) -> None:
    put(path, TWO)
    rig = Looks(path)
    await rig.discovery.load(rig.endpoints)
    kept = rig.endpoints.get("default/a")

    write(path, TWO.replace("name: b", "name: c"))

    assert rig.look() == ["a", "c"]
    assert rig.endpoints.get("default/a") is kept


async def test_a_write_in_place_is_taken_over(path: Path) -> None:
    put(path, TWO)
    os.utime(path, (1, 1))
    rig = Looks(path)
    await rig.discovery.load(rig.endpoints)

    put(path, TWO.replace("name: b", "name: c"))

    assert rig.look() == ["a", "c"]


async def test_a_broken_file_is_logged_once_and_the_endpoints_stay(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    put(path, TWO)
    rig = Looks(path)
    await rig.discovery.load(rig.endpoints)

    write(path, "endpoints: [")

    assert rig.look() == ["a", "b"]
    assert rig.look() == ["a", "b"]
    assert len(caplog.records) == 1
    write(path, "endpoints: []")
    assert rig.look() == []


async def test_a_file_that_vanishes_leaves_the_endpoints(path: Path) -> None:
    put(path, TWO)
    rig = Looks(path)
    await rig.discovery.load(rig.endpoints)

    os.unlink(path)

    assert rig.look() == ["a", "b"]
    write(path, "endpoints: []")
    assert rig.look() == []


async def test_a_watched_file_is_looked_at_again_and_again(path: Path) -> None:
    put(path, TWO)
    discovery = FileEndpoints(path, watch=True, sleep=lambda _: asyncio.sleep(0))
    endpoints = Endpoints()
    await discovery.load(endpoints)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(discovery.run(endpoints))
        write(path, "endpoints: [{name: z, address: 10.0.0.9}]")
        await until(lambda: names(endpoints) == ["z"])
        task.cancel()


async def test_a_file_that_is_not_watched_is_read_once(path: Path) -> None:
    put(path, TWO)
    discovery = FileEndpoints(path, watch=False)
    endpoints = Endpoints()
    await discovery.load(endpoints)

    await discovery.run(endpoints)

    assert discovery.pool_known
    assert names(endpoints) == ["a", "b"]
