import asyncio
import json
from collections.abc import Sequence

import pytest

from cli.__main__ import main
from cli.verify import is_loopback
from tests.support.served import Served, served


async def verify(*words: str, state: Served | None = None) -> tuple[int, str]:
    """Exit code and URL of one `mmserve verify` against a small stack."""
    async with served(state) as (_, url):
        arguments = ["verify", "--url", url, *(word.replace("URL", url) for word in words)]
        return await asyncio.to_thread(main, arguments), url


PODS = ("--pod", "one=URL/one", "--pod", "two=URL/two")


async def test_a_good_stack_passes_with_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    code, url = await verify(*PODS)
    output = capsys.readouterr().out

    assert code == 0
    assert "PASSED: 32 ok, 0 failed, 0 skipped" in output
    assert url in output
    assert "+992 of 1000 tokens" in output


async def test_a_bad_stack_fails(capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = await verify(*PODS, state=Served(forgetful=True))

    assert code == 1
    assert "FAILED: 30 ok, 2 failed" in capsys.readouterr().out


async def test_json_is_all_there_is_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    code, url = await verify(*PODS, "--json", "--model", "given")
    document = json.loads(capsys.readouterr().out)

    assert code == 0
    assert (document["ok"], document["url"], document["model"]) == (True, url, "given")


async def test_without_pods_what_needs_counters_is_skipped(capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = await verify()

    assert code == 0
    assert "28 ok, 0 failed, 4 skipped" in capsys.readouterr().out


async def test_a_stack_that_is_not_there_is_one_message(capsys: pytest.CaptureFixture[str]) -> None:
    async with served() as (_, url):
        pass

    assert await asyncio.to_thread(main, ["verify", "--url", url]) == 1
    message = capsys.readouterr().err
    assert message.startswith(f"mmserve: {url}/v1/models: no answer: Cannot connect")
    assert message.endswith("is the stack running there? --model NAME skips the question\n")
    assert len(message.splitlines()) == 1


WRONG = {
    "pod-without-name": (["--url", "http://x", "--pod", "http://y"], "expected NAME=URL"),
    "pods-and-selector": (["--url", "http://x", "--pod", "a=http://y", "--namespace", "n", "--selector", "a=b"], "exclude each other"),
    "half-a-selector": (["--url", "http://x", "--namespace", "n"], "belong together"),
    "no-scheme": (["--url", "10.0.0.1"], "expected http://HOST"),
    "no-url": ([], "--url"),
}


@pytest.mark.parametrize(("words", "message"), WRONG.values(), ids=WRONG)
def test_options_that_cannot_be_used_are_one_message(words: Sequence[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.70.1.1:8081", True),
        ("http://localhost", True),
        ("http://[::1]:80", True),
        ("http://10.0.0.1", False),
        ("http://name", False),
    ],
)
def test_only_loopback_is_this_machine(url: str, local: bool) -> None:
    assert is_loopback(url) is local
