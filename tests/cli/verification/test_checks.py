import aiohttp

from cli.verification.checks import REPEAT_STEPS, Target, Verification
from cli.verification.client import Client
from cli.verification.counters import DirectCounters
from cli.verification.pictures import COLOURS
from cli.verification.report import Report
from tests.support.served import Served, served


async def verified(state: Served, *, counters: bool = True, local: bool = True) -> Report:
    async with served(state) as (_, url), aiohttp.ClientSession() as session:
        source = DirectCounters(session, {name: f"{url}/{name}" for name in ("one", "two")}) if counters else None
        target = Target(url=url, model="tiny/model", client=Client(session, url), counters=source, local=local, settle_seconds=0.05)
        return await Verification(target).run()


def verdicts(report: Report) -> dict[str, str]:
    return {step.id: step.verdict for step in report.steps}


def failures(report: Report) -> set[str]:
    return {step.id for step in report.steps if step.verdict == "failed"}


async def test_a_stack_that_does_as_it_should_passes() -> None:
    state = Served()

    report = await verified(state)

    assert failures(report) == set()
    assert set(verdicts(report).values()) == {"ok"}
    assert set(verdicts(report)) == {
        "image-red", "repeat-answered", "text-only", "photograph", "image-url", "video", "large-body", "stream",
        *REPEAT_STEPS, *(f"colour-{name}-{kind}" for name in COLOURS for kind in ("png", "jpeg")),
    }  # fmt: skip
    assert len(state.requests) == 1 + 3 + 20 + 1 + 1 + 1 + 1 + 1


async def test_repeats_on_two_pods_fail() -> None:
    report = await verified(Served(alternate=True))

    assert {"repeat-same-pod", "repeat-prefix-hits", "repeat-mm-hit"} <= failures(report)
    [step] = [step for step in report.steps if step.id == "repeat-same-pod"]
    assert step.observed == "first two +1; second one +1"


async def test_a_cold_cache_fails() -> None:
    assert failures(await verified(Served(forgetful=True))) == {"repeat-prefix-hits", "repeat-mm-hit"}


async def test_pods_that_count_nothing_fail() -> None:
    assert failures(await verified(Served(lossy=True))) == {*REPEAT_STEPS, "photograph", "video"}


async def test_wrong_colours_fail_each_by_its_name() -> None:
    failed = failures(await verified(Served(colour_blind=True)))

    assert {"image-red", "large-body", "image-url"} <= failed
    assert len([name for name in failed if name.startswith("colour-")]) == 20


async def test_a_stream_without_end_fails() -> None:
    assert failures(await verified(Served(mute_streams=True))) == {"stream"}


async def test_a_stack_that_refuses_everything_fails_everything_and_ends() -> None:
    report = await verified(Served(status=503))

    assert set(verdicts(report).values()) == {"failed"}
    assert all("503" in step.observed for step in report.steps if step.id not in REPEAT_STEPS)


async def test_without_counters_the_steps_that_need_them_are_skipped() -> None:
    found = verdicts(await verified(Served(), counters=False))

    assert {name for name, verdict in found.items() if verdict == "skipped"} == set(REPEAT_STEPS)
    assert "failed" not in found.values()


async def test_a_stack_elsewhere_is_not_asked_to_fetch_from_here() -> None:
    assert verdicts(await verified(Served(), local=False))["image-url"] == "skipped"


async def test_counters_that_cannot_be_read_are_a_failed_step_and_the_rest_goes_on() -> None:
    async with served() as (_, url), aiohttp.ClientSession() as session:
        source = DirectCounters(session, {"gone": f"{url}/gone"})
        target = Target(url=url, model="tiny/model", client=Client(session, url), counters=source)
        report = await Verification(target).run()

    assert {"repeats", "photograph", "video"} <= failures(report)
    assert verdicts(report)["image-red"] == "ok"


async def test_progress_names_each_check() -> None:
    told: list[str] = []
    async with served() as (_, url), aiohttp.ClientSession() as session:
        await Verification(Target(url=url, model="m", client=Client(session, url)), told.append).run()

    assert told == ["red image", "repeats", "colours", "photograph", "from url", "video", "large", "stream"]
