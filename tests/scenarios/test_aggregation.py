"""The aggregated topology's decisions, with the real plugins and without a network: numbers and spread."""

import dataclasses
from collections import Counter

import pytest

from router.framework.attributes.load import inflight_load
from router.framework.compat import Compat
from tests.support.decisions import Deciding, image, text
from tests.support.pictures import data_url, png, png_url

THRESHOLD = 4_194_304

TEXT = text("x" * 3840)
IMAGE = image(png_url(640, 480))
OTHER_IMAGE = image(data_url(png(640, 480) + b"other"))


@pytest.mark.parametrize("compat", [Compat(), Compat(reference=True)], ids=["ours", "reference"])
async def test_p01_p02_p03_a_request_sticks_and_is_booked(compat: Compat) -> None:
    engine = Deciding("A", "B", "C", compat=compat)

    first = await engine.route(TEXT, IMAGE)
    a = first.target
    assert first.tokens == 1261
    assert first.matches() == {"A": (0, 20), "B": (0, 20), "C": (0, 20)}
    assert [first.cost(name) for name in "ABC"] == [1280] * 3
    assert list(first.scores.values()) == [1 - 1280 / THRESHOLD] * 3
    assert first.scores["A"] == pytest.approx(0.999694824, abs=1e-9)
    assert engine.load(a) == (1, 1280)

    second = await engine.route(TEXT, IMAGE)
    assert second.matches() == {"A": (0, 20), "B": (0, 20), "C": (0, 20), a: (20, 20)}
    assert list(second.scores) == [a]
    assert second.cost(a) == 0
    assert engine.load(a) == (2, 1280)

    engine.progress(first)
    after_first_chunk = engine.load(a)
    engine.progress(first, end=True)
    assert (after_first_chunk, engine.load(a)) == ((2, 0), (1, 0))

    engine.progress(second)
    engine.progress(second, end=True)
    assert engine.load(a) == (0, 0)


async def test_p04_another_image_of_the_same_size() -> None:
    engine = Deciding("A", "B", "C")
    first = await engine.route(TEXT, IMAGE)

    other = await engine.route(TEXT, OTHER_IMAGE)

    a = first.target
    assert other.matches()[a] == (15, 20)
    assert list(other.scores) == [a]
    assert other.cost(a) == 320


async def test_p05_a_longer_text() -> None:
    engine = Deciding("A", "B", "C")
    first = await engine.route(TEXT, IMAGE)
    engine.progress(first)
    engine.progress(first, end=True)

    longer = await engine.route(text("x" * 7840), IMAGE)

    a = first.target
    others = {name: 1 - 2304 / THRESHOLD for name in "ABC" if name != a}
    assert longer.matches()[a] == (15, 36)
    assert longer.scores == {a: 1 - 1344 / THRESHOLD, **others}
    assert longer.target == a


async def test_field_p32_new_prefixes_spread_over_idle_endpoints() -> None:
    engine = Deciding(*"ABCDEFGH")
    counts: Counter[str] = Counter()
    for number in range(80):
        decision = await engine.route(text(f"{number:05d}" * 400))
        counts[decision.target] += 1
        engine.progress(decision)
        engine.progress(decision, end=True)

    assert all(count in {9, 10, 11} for count in counts.values())
    assert sum(counts.values()) == 80


async def test_forty_images_with_one_short_prompt_spread() -> None:
    engine = Deciding("A", "B", "C", "D")
    targets: Counter[str] = Counter()
    for number in range(40):
        decision = await engine.route(text("What is this?"), image(data_url(png(1280, 720) + bytes([number]))))
        targets[decision.target] += 1
        engine.progress(decision)
        engine.progress(decision, end=True)

    assert max(targets.values()) <= 14


async def test_a_repeat_lands_on_the_same_endpoint() -> None:
    engine = Deciding(*"ABCDEFGH")
    homes = {number: (await engine.route(image(data_url(png(640, 480) + bytes([number]))))).target for number in range(20)}

    again = {number: (await engine.route(image(data_url(png(640, 480) + bytes([number]))))).target for number in range(20)}

    assert again == homes


@pytest.mark.parametrize(("backlog", "stays"), [(567_036, True), (567_037, False)])
async def test_stickiness_ends_where_the_backlog_costs_more(backlog: int, *, stays: bool) -> None:
    engine = Deciding("A", "B")
    home = (await engine.route(TEXT, IMAGE)).target
    live = engine.endpoints.get(f"default/{home}-rank-0")
    assert live is not None
    live.attributes[inflight_load()].tokens = backlog

    again = await engine.route(TEXT, IMAGE)

    assert (again.target == home) is stays


async def test_field_p34_a_restarted_pod_is_not_sticky() -> None:
    engine = Deciding("A", "B")
    home = (await engine.route(TEXT, IMAGE)).target
    metadata = engine.endpoints.all()["AB".index(home)].metadata
    engine.endpoints.upsert(dataclasses.replace(metadata, uid="another"))

    again = await engine.route(TEXT, IMAGE)

    assert again.matches() == {"A": (0, 20), "B": (0, 20)}
