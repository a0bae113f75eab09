import io
from dataclasses import replace
from pathlib import Path

import aiohttp
from rich.console import Console

from local.counters import Counters
from local.stack import play
from local.status import Readings, Row, drawing, plain, read, rows
from tests.support.local_stack import house, own, settings, small_plan
from tests.support.loopback import serving, text

COUNTED = Counters(requests=5, prefix_hits=700, prefix_queries=1400, media_hits=1, media_queries=4)


def row(counters: Counters | None = None, phase: str = "Running", message: str = "") -> Row:
    return Row(
        name="model-x", role="decode", address="127.70.1.2", phase=phase, ready="1/1", restarts=2, counters=counters, tokens_in_flight=42,
        message=message,
    )  # fmt: skip


def drawn(*lines: Row, width: int = 200) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(drawing(lines, width))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_row_shows_what_the_pod_did() -> None:
    [_, heading, line] = drawn(row(COUNTED)).splitlines()

    assert heading.split("  ")[0] == "POD"
    assert line.split() == ["model-x", "decode", "127.70.1.2", "Running", "1/1", "2", "5", "42", "700", "(50%)", "1", "(25%)"]


def test_a_pod_without_counters_has_dashes() -> None:
    assert drawn(row()).splitlines()[2].split()[-4:] == ["-"] * 4


def test_a_line_for_a_pipe_says_the_same() -> None:
    expected = "model-x role=decode status=Running ready=1/1 restarts=2 requests=5 tokens_in_flight=42 prefix_hits=700 mm_hits=1"

    assert plain(row(COUNTED)) == expected
    assert plain(row(message="web: exit code 1")) == "model-x role=decode status=Running ready=1/1 restarts=2 (web: exit code 1)"


def test_on_a_narrow_terminal_the_ends_of_names_are_shown() -> None:
    long = replace(row(), name="mm-baseline-nvidia-gpu-vllm-decode-d4nwmv7fzm-h4wxp")

    assert f"…{long.name[-11:]} " in drawn(long, width=120)
    assert drawn(long, width=80).splitlines()[2].startswith(f"…{long.name[-5:]} ")
    assert drawn(long, width=200).splitlines()[2].startswith(long.name)


def test_eighty_columns_hold_every_figure_of_a_busy_pod() -> None:
    counters = Counters(requests=12_345, prefix_hits=1_234_567, prefix_queries=1_543_210, media_hits=2_100, media_queries=3_000)
    busy = replace(row(counters), name="mm-baseline-nvidia-gpu-vllm-decode-d4nwmv7fzm-h4wxp", tokens_in_flight=123_456)

    text = drawn(busy, replace(busy, phase="CrashLoopBackOff"), width=80)

    assert "12345    123456 1234567 (80%) 2100 (70%)" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "RESTARTS" in text


def test_what_a_pod_complains_about_stands_below_the_table() -> None:
    assert drawn(row(message="web: exit code 1")).splitlines()[-1] == "model-x web: exit code 1"


async def test_readings_come_from_the_pods_and_the_engine() -> None:
    plan = small_plan(own("status-read"), 1)
    [(server, _)] = plan.model_servers
    tokens = "".join(
        f'llm_d_epp_inflight_tokens{{endpoint_name="{name}",fairness_id="{fairness}"}} {value}\n'
        for name, fairness, value in ((server.name, "a", 10), (f"{server.name}-rank-0", "b", 5))
    )
    engine_pages = {"/metrics": text(tokens)}
    server_pages = {"/metrics": text('vllm:request_success_total{finished_reason="stop"} 3\n')}
    engine_host, server_host = (plan.addresses[pod.key] for pod in plan.pods)

    async with serving(engine_pages, engine_host, 9090), serving(server_pages, server_host, 8000), aiohttp.ClientSession() as session:
        found = await read(session, plan)

    assert found.counters == {server.name: Counters(requests=3)}
    assert found.tokens_in_flight == {server.name: 15}


async def test_what_does_not_answer_is_left_out() -> None:
    async with aiohttp.ClientSession() as session:
        assert await read(session, small_plan(own("status-silent"))) == Readings()


async def test_there_is_a_row_for_each_pod_of_a_running_stack(tmp_path: Path) -> None:
    plan = small_plan(own("status-rows"), 1)
    async with play(plan, settings(tmp_path), house()) as stack:
        await stack.wait_ready(60)
        router, server = rows(stack, Readings(counters={plan.pods[1].name: COUNTED}, tokens_in_flight={plan.pods[1].name: 7}))

    assert (router.role, router.counters, router.tokens_in_flight, router.ready) == ("router", None, None, "1/1")
    assert (server.counters, server.tokens_in_flight, server.phase) == (COUNTED, 7, "Running")
