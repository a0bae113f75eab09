"""The program as a process: its exit codes and what it says."""

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from simulator.__main__ import main
from simulator.app import SimServer
from tests.support.simulated import FAST


def test_a_bad_flag_is_one_line_and_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["m", "--sim-profile", "warp"]) == 2

    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert "--sim-profile: 'warp' is none of fast" in lines[0]


@asynccontextmanager
async def started(*flags: str) -> AsyncGenerator[Process, None]:
    """The program, killed at the end if it still runs."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "simulator", *FAST, "--host", "127.0.0.1", *flags, stderr=PIPE)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def url_of(process: Process) -> str:
    assert process.stderr is not None
    return (await process.stderr.readline()).decode().split(" on ")[1].strip()


async def test_a_taken_port_is_one_line_and_exit_code_1() -> None:
    async with SimServer(FAST) as other:
        port = other.url.rsplit(":", 1)[1]
        async with started("--port", port) as process:
            _, said = await process.communicate()

    assert process.returncode == 1
    assert said.decode().splitlines()[-1].startswith(f"simulator: cannot listen on 127.0.0.1:{port}:")
    assert "Traceback" not in said.decode()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_with_a_stream_open(number: signal.Signals) -> None:
    body = {"messages": [{"role": "user", "content": "x"}], "stream": True, "max_tokens": 30_000, "ignore_eos": True}
    async with (
        started("--port", "0", "--sim-step-base", "0.01") as process,
        aiohttp.ClientSession(await url_of(process)) as client,
        client.post("/v1/chat/completions", json=body) as response,
    ):
        await response.content.readany()
        process.send_signal(number)
        _, said = await process.communicate()

    assert process.returncode == 0
    assert "Traceback" not in said.decode()


async def test_fault_exit_ends_the_process_with_its_code() -> None:
    async with started("--port", "0", "--sim-faults", '[{"effect":{"kind":"exit","code":7}}]') as process:
        async with aiohttp.ClientSession(await url_of(process)) as client:
            with pytest.raises(aiohttp.ClientError):
                await client.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": "x"}]})
        await process.communicate()

    assert process.returncode == 7
