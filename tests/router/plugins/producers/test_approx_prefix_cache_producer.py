from typing import Any

import pytest

from router.engine.datalayer.endpoints import Endpoints
from router.framework.attributes.prefix_match import PrefixMatch, prefix_match
from router.framework.attributes.tokenized_prompt import MultimodalFeature, Prompt, TokenizedPrompt, tokenized_prompt
from router.framework.compat import Compat
from router.framework.endpoint import Endpoint, EndpointMetadata, EndpointMetrics
from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.framework.request import InferenceRequest
from router.plugins.producers.approx_prefix_cache_producer import TYPE, ApproxPrefixCacheProducer, Parameters
from router.tokens.stream import packed_token_ids
from tests.support.engine import REFERENCE, RecordingMetrics, inference_request, make_handle, result_of

BLOCK = 64


class Pool:
    """Endpoints that a producer listens to, and requests through it."""

    def __init__(self, *names: str, compat: Compat | None = None, metrics: EndpointMetrics | None = None, **parameters: Any) -> None:
        self.recorded = RecordingMetrics()
        handle = make_handle(compat=compat, metrics=self.recorded)
        self.producer = ApproxPrefixCacheProducer(TYPE, decode(Parameters, parameters), handle)
        self.endpoints = Endpoints([self.producer])
        self.metrics = metrics
        for name in names:
            self.join(name)

    def join(self, name: str, *, uid: str = "") -> None:
        metadata = EndpointMetadata(id=f"default/{name}-rank-0", name=name, namespace="default", address="10.0.0.1", port=8000, uid=uid)
        live = self.endpoints.upsert(metadata)
        live.metrics = self.metrics or live.metrics

    async def ask(self, *prompts: list[int], model: str = "m", salt: str = "") -> tuple[InferenceRequest, dict[str, Endpoint]]:
        return await self.ask_for(
            TokenizedPrompt(prompts=tuple(Prompt(packed=packed_token_ids(p)) for p in prompts), cache_salt=salt), model
        )

    async def ask_for(self, tokens: TokenizedPrompt, model: str = "m") -> tuple[InferenceRequest, dict[str, Endpoint]]:
        request = inference_request(model=model)
        request.write(tokenized_prompt(), tokens)
        views = [Endpoint(live) for live in self.endpoints.all()]
        await self.producer.produce(request, views)
        return request, {view.metadata.name: view for view in views}

    async def send(self, name: str, *prompts: list[int], prefill: str = "", **more: str) -> None:
        request, views = await self.ask(*prompts, **more)
        targets = {"prefill": views[prefill]} if prefill else {}
        await self.producer.before_request(request, result_of(**targets, decode=views[name]))

    async def matches(self, *prompts: list[int], **more: str) -> dict[str, tuple[int, int]]:
        _, views = await self.ask(*prompts, **more)
        return {name: (m.matched_blocks, m.total_blocks) for name, view in views.items() if (m := view.read(prefix_match()))}


def blocks(*numbers: int) -> list[int]:
    """A prompt of whole blocks, told apart by number."""
    return [number for number in numbers for _ in range(BLOCK)]


async def block_size(**parameters: Any) -> tuple[int, int]:
    reported = parameters.pop("scraped", 0)
    tokens = parameters.pop("tokens", 192)
    pool = Pool("a", metrics=EndpointMetrics(cache_block_size=reported), **parameters)
    _, views = await pool.ask([1] * tokens)
    match = views["a"].read(prefix_match())
    assert match is not None
    return match.block_size_tokens, match.total_blocks


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        pytest.param({"blockSizeTokens": 16, "scraped": 16}, (64, 3), id="E20"),
        pytest.param({"blockSizeTokens": 16, "scraped": 128}, (128, 2), id="E21"),
        pytest.param({"blockSizeTokens": 256, "scraped": 128}, (128, 2), id="E22"),
        pytest.param({"blockSizeTokens": 256}, (256, 1), id="not-scraped"),
        pytest.param({"autoTune": False, "blockSizeTokens": 32}, (64, 3), id="E24"),
        pytest.param({"autoTune": False, "blockSize": 24}, (64, 3), id="E26"),
        pytest.param({"autoTune": False, "blockSize": 128}, (128, 2), id="old-name"),
        pytest.param({"autoTune": False, "blockSizeTokens": 96, "blockSize": 128}, (96, 2), id="new-name-wins"),
        pytest.param({"tokens": 200_000}, (64, 2048), id="E27"),
        pytest.param({"tokens": 200_000, "maxPrefixTokensToMatch": 0, "maxPrefixBlocksToMatch": 3}, (64, 3), id="blocks-cap"),
        pytest.param({"tokens": 950}, (64, 15), id="E35"),
    ],
)
async def test_block_size_and_count(parameters: dict[str, Any], expected: tuple[int, int]) -> None:
    assert await block_size(**parameters) == expected


async def test_e23_no_endpoint() -> None:
    pool = Pool()
    request, _ = await pool.ask([1] * 128)

    assert any(getattr(value, "block_tokens", 0) == 64 for value in request.attributes.values())


def test_e26_the_old_name_counts() -> None:
    assert decode(Parameters, {"autoTune": False, "blockSize": 24}).block_tokens == 24


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        pytest.param({"autoTune": False, "blockSizeTokens": 0}, "blockSizeTokens", id="E25"),
        pytest.param({"maxPrefixTokensToMatch": -1}, "maxPrefixTokensToMatch", id="negative"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        decode(Parameters, parameters)


async def test_e31_primary_and_prefill_are_recorded() -> None:
    pool = Pool("pod1", "pod2", "pod3")
    await pool.send("pod1", blocks(1, 2), prefill="pod3")

    assert await pool.matches(blocks(1, 3)) == {"pod1": (1, 2), "pod2": (0, 2), "pod3": (1, 2)}


async def test_e32_all_prompts_are_recorded() -> None:
    pool = Pool("a")
    await pool.send("a", blocks(1, 2, 3), blocks(4, 5))

    assert await pool.matches(blocks(1, 2, 3), blocks(4, 5)) == {"a": (5, 5)}


async def test_e33_prompts_match_on_their_own() -> None:
    pool = Pool("a")
    await pool.send("a", blocks(1, 2), blocks(3, 4))

    assert await pool.matches(blocks(1, 2), blocks(5, 6)) == {"a": (2, 4)}


@pytest.mark.parametrize(
    ("metrics", "parameters", "compat", "capacity"),
    [
        pytest.param(EndpointMetrics(cache_blocks=10), {}, None, 10, id="E36"),
        pytest.param(EndpointMetrics(cache_blocks=40, cache_block_size=16), {}, REFERENCE, 40, id="E36-reference"),
        pytest.param(EndpointMetrics(cache_blocks=40, cache_block_size=16), {}, None, 10, id="counted-in-our-blocks"),
        pytest.param(EndpointMetrics(cache_blocks=40), {"autoTune": False, "lruCapacityPerServer": 7}, None, 7, id="configured"),
    ],
)
async def test_capacity(metrics: EndpointMetrics, parameters: dict[str, Any], compat: Compat | None, capacity: int) -> None:
    pool = Pool("a", metrics=metrics, compat=compat, **parameters)
    await pool.send("a", blocks(*range(60)))

    assert pool.recorded.index_sizes[-1] == capacity


async def test_e36_nothing_scraped_and_nothing_configured() -> None:
    pool = Pool("a", maxPrefixTokensToMatch=0, maxPrefixBlocksToMatch=0, lruCapacityPerServer=0)
    await pool.send("a", [7] * (BLOCK * 31_260))

    assert pool.recorded.index_sizes[-1] == 31_250


async def test_gaps_end_a_match_unless_the_reference_is_asked_for() -> None:
    results: list[tuple[int, int]] = []
    for compat in (None, REFERENCE):
        pool = Pool("a", "b", compat=compat, metrics=EndpointMetrics(cache_blocks=2))
        await pool.send("a", blocks(1, 2, 3))  # the first block is pushed out
        await pool.send("b", blocks(1))
        results.append((await pool.matches(blocks(1, 2, 3)))["a"])

    assert results == [(0, 3), (2, 3)]


async def test_models_and_salts_do_not_mix() -> None:
    pool = Pool("a")
    await pool.send("a", blocks(1), model="m", salt="s")

    assert await pool.matches(blocks(1), model="m", salt="s") == {"a": (1, 1)}
    assert await pool.matches(blocks(1), model="other", salt="s") == {"a": (0, 1)}
    assert await pool.matches(blocks(1), model="m") == {"a": (0, 1)}


async def test_field_p28_a_block_counts_behind_its_own_beginning_only() -> None:
    pool = Pool("a", "b")
    await pool.send("a", blocks(1, 2))
    await pool.send("b", blocks(3, 4))

    assert await pool.matches(blocks(3, 2)) == {"a": (0, 2), "b": (1, 2)}


async def test_field_p30_no_limits_match_a_whole_long_prompt() -> None:
    pool = Pool("a", maxPrefixTokensToMatch=0, maxPrefixBlocksToMatch=0)
    prompt = list(range(10_000))
    await pool.send("a", prompt)

    assert await pool.matches(prompt) == {"a": (157, 157)}


async def test_field_p34_a_pod_made_anew_holds_nothing() -> None:
    pool = Pool("a", "b")
    pool.join("a", uid="1")
    await pool.send("a", blocks(1, 2))
    pool.join("a", uid="2")

    assert (await pool.matches(blocks(1, 2)))["a"] == (0, 2)
    assert pool.recorded.index_sizes[-1] == 0


async def test_a_target_that_left_meanwhile_is_not_recorded() -> None:
    pool = Pool("a", "b")
    request, views = await pool.ask(blocks(1))
    pool.endpoints.remove("default/a-rank-0")
    await pool.producer.before_request(request, result_of(decode=views["a"]))

    assert pool.recorded.index_sizes[-1] == 0


@pytest.mark.parametrize(("estimated", "same"), [(True, True), (False, False)])
async def test_field_p22_real_ids_of_different_images_are_told_apart(*, estimated: bool, same: bool) -> None:
    def tokens(digest: str) -> TokenizedPrompt:
        feature = MultimodalFeature(modality="image", hash=digest, offset=0, length=64)
        return TokenizedPrompt(prompts=(Prompt(packed=packed_token_ids([9] * 64), features=(feature,)),), estimated=estimated)

    pool = Pool("a")
    request, views = await pool.ask_for(tokens("aa"))
    await pool.producer.before_request(request, result_of(decode=views["a"]))
    _, views = await pool.ask_for(tokens("bb"))

    match = views["a"].read(prefix_match())
    assert match is not None
    assert bool(match.matched_blocks) is same


async def test_hits_are_measured_at_the_chosen_endpoint() -> None:
    pool = Pool("a", "b")
    await pool.send("a", blocks(1, 2))
    await pool.send("a", blocks(1, 3))

    assert pool.recorded.hits == [(0.0, 0), (0.5, 256)]
    assert pool.recorded.index_sizes[-1] == 3


async def test_a_request_without_tokens_is_left_alone() -> None:
    pool = Pool("a")
    request = inference_request()
    view = Endpoint(pool.endpoints.all()[0])
    await pool.producer.produce(request, [view])
    await pool.producer.before_request(request, result_of(decode=view))

    assert view.read(prefix_match()) is None
    assert not pool.recorded.index_sizes


async def test_debug_state_shows_counts_only() -> None:
    pool = Pool("a", "b")
    await pool.send("b", blocks(1, 2))

    assert pool.producer.debug_state() == {
        "pods": [{"pod": "default/b-rank-0", "blocks": 2}, {"pod": "default/a-rank-0", "blocks": 0}],
        "totalPods": 2,
        "maxPods": 100,
    }


def test_match_of_an_empty_prompt_is_zero() -> None:
    assert PrefixMatch(matched_blocks=0, total_blocks=0, block_size_tokens=64).ratio == 0.0


@pytest.mark.parametrize(("size", "lines"), [(16, 0), (24, 1), (64, 0), (128, 0)])
def test_a_block_size_that_is_not_used_is_said_once(size: int, lines: int, caplog: pytest.LogCaptureFixture) -> None:
    ApproxPrefixCacheProducer(TYPE, Parameters(block_size_tokens=size), make_handle())

    assert len(caplog.records) == lines
