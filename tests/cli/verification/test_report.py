import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from cli.verification.report import Report, Step, Verdict


def step(verdict: Verdict = "ok", identity: str = "image-red") -> Step:
    return Step(id=identity, expectation="names red", observed="HTTP 200: red", verdict=verdict, seconds=0.25, details=("more",))


def report(*steps: Step) -> Report:
    return Report(url="http://127.0.0.1:1", model="m", steps=steps, seconds=1.5)


@pytest.mark.parametrize(("verdict", "fine"), [("ok", True), ("skipped", True), ("failed", False)])
def test_one_failed_step_fails_the_report(verdict: Verdict, fine: bool) -> None:
    assert report(step(), step(verdict)).ok is fine


def test_json_has_every_step() -> None:
    document = json.loads(report(step(), step("failed", "stream")).as_json())

    assert document["ok"] is False
    assert document["url"] == "http://127.0.0.1:1"
    assert document["steps"][1] == {
        "id": "stream",
        "expectation": "names red",
        "observed": "HTTP 200: red",
        "verdict": "failed",
        "seconds": 0.25,
        "details": ["more"],
        "ok": False,
    }


def test_the_table_has_a_line_a_step_with_figures() -> None:
    console = Console(file=io.StringIO(), width=120)
    console.print(report(step(), step("failed", "stream"), step("skipped", "image-url")).as_table())
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()

    assert [line.split()[0] for line in lines if line.split()[0] != "more"] == ["CHECK", "ok", "FAIL", "skip"]
    assert "HTTP 200: red" in lines[1]
    assert "0.25" in lines[1]


def test_a_name_without_room_is_folded_not_cut() -> None:
    console = Console(file=io.StringIO(), width=80)
    name = "mm-baseline-nvidia-gpu-vllm-decode-d4nwmv7fzm-h4wxp"
    console.print(Report(url="", model="m", steps=[replace(step(), observed=name)], seconds=1).as_table())
    assert isinstance(console.file, io.StringIO)

    assert "…" not in console.file.getvalue()
    assert "h4wxp" in console.file.getvalue()


def test_the_summary_counts() -> None:
    assert report(step(), step("failed"), step("skipped"), step()).summary == "2 ok, 1 failed, 1 skipped in 1.5 s"
