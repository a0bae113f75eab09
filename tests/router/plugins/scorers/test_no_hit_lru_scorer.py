import pytest

from router.framework.attributes.prefix_match import PrefixMatch, prefix_match
from router.framework.endpoint import Endpoint
from router.plugins.scorers.no_hit_lru_scorer import TYPE, NoHitLruScorer, Parameters
from tests.support.engine import candidates, inference_request, make_handle, result_of


def scorer(size: int = 0) -> NoHitLruScorer:
    return NoHitLruScorer(TYPE, Parameters(lru_size=size), make_handle())


async def serve(plugin: NoHitLruScorer, pool: list[Endpoint], **targets: Endpoint) -> None:
    request = inference_request()
    plugin.score(request, pool)
    await plugin.before_request(request, result_of(**targets))


def scores(plugin: NoHitLruScorer, pool: list[Endpoint]) -> list[float]:
    return list(plugin.score(inference_request(), pool).values())


def test_H31_unused_endpoints_in_their_order() -> None:
    assert scores(scorer(), candidates(*"abcd")) == pytest.approx([1, 2 / 3, 1 / 3, 0])


async def test_H32_a_match_anywhere_makes_all_alike_and_is_not_recorded() -> None:
    plugin, pool = scorer(), candidates(*"ab")
    pool[0].write(prefix_match(), PrefixMatch(matched_blocks=1, total_blocks=9, block_size_tokens=64))
    assert scores(plugin, pool) == [0.5, 0.5]

    await serve(plugin, pool, default=pool[0])
    pool[0].write(prefix_match(), PrefixMatch(matched_blocks=0, total_blocks=9, block_size_tokens=64))

    assert scores(plugin, pool) == [1.0, 0.0]


async def test_the_longest_unused_is_best() -> None:
    plugin, pool = scorer(), candidates(*"abc")
    for endpoint in (pool[0], pool[2], pool[0]):
        await serve(plugin, pool, default=endpoint)

    assert scores(plugin, pool) == [0.0, 1.0, 0.5]


async def test_the_prefill_endpoint_was_used_too() -> None:
    plugin, pool = scorer(), candidates(*"abc")

    await serve(plugin, pool, prefill=pool[1], decode=pool[0])

    assert scores(plugin, pool) == [0.5, 0.0, 1.0]


async def test_no_more_than_the_size_are_remembered() -> None:
    plugin, pool = scorer(1), candidates(*"ab")
    for endpoint in pool:
        await serve(plugin, pool, default=endpoint)

    assert scores(plugin, pool) == [1.0, 0.0]


async def test_an_endpoint_that_is_gone_takes_no_rank() -> None:
    plugin, pool = scorer(), candidates(*"ab")
    for endpoint in pool:
        await serve(plugin, pool, default=endpoint)

    plugin.endpoint_removed(pool[0].live)

    assert scores(plugin, [pool[1], *candidates("c")]) == [0.0, 1.0]


def test_a_single_endpoint_scores_one() -> None:
    assert scores(scorer(), candidates("a")) == [1.0]
