import pytest

from router.framework.attributes.encoder_match import encoder_match
from router.framework.attributes.tokenized_prompt import MultimodalFeature, Prompt, TokenizedPrompt, tokenized_prompt
from router.framework.compat import Compat
from router.framework.endpoint import Endpoint, LiveEndpoint
from router.framework.parameters import decode
from router.framework.request import InferenceRequest
from router.plugins.producers.mm_embeddings_cache_producer import TYPE, MmEmbeddingsCacheProducer, Parameters
from tests.support.engine import REFERENCE, RecordingMetrics, inference_request, live_endpoint, make_handle, result_of


@pytest.mark.parametrize(
    ("size", "items"),
    [
        pytest.param(4096, 2048, id="H39-4096"),
        pytest.param(2048, 1024, id="H39-2048"),
        pytest.param(3, 1, id="H39-3"),
        pytest.param(1, 1, id="H39-1"),
        pytest.param(0, 2048, id="H39-0"),
    ],
)
def test_capacity_in_items(size: int, items: int) -> None:
    assert decode(Parameters, {"cacheSizeInMBPerServer": size}).capacity == items


class Pool:
    """Endpoints whose encoders a producer follows."""

    def __init__(self, *names: str, size: int = 4096, compat: Compat | None = None) -> None:
        self.metrics = RecordingMetrics()
        handle = make_handle(metrics=self.metrics, compat=compat)
        self.producer = MmEmbeddingsCacheProducer(TYPE, Parameters(cache_size_in_mb_per_server=size), handle)
        self.live: dict[str, LiveEndpoint] = {name: live_endpoint(name) for name in names}
        for endpoint in self.live.values():
            self.producer.endpoint_added(endpoint)

    async def ask(self, *hashes: str) -> tuple[InferenceRequest, dict[str, Endpoint]]:
        """A request with these pictures, priced on every endpoint."""
        request = inference_request()
        features = tuple(MultimodalFeature(modality="image", hash=item, offset=0, length=9) for item in hashes)
        request.write(tokenized_prompt(), TokenizedPrompt(prompts=(Prompt(packed=b"", features=features),)))
        views = {name: Endpoint(live) for name, live in self.live.items()}
        await self.producer.produce(request, list(views.values()))
        return request, views

    async def ratios(self, *hashes: str) -> list[float | None]:
        _, views = await self.ask(*hashes)
        matches = [view.read(encoder_match()) for view in views.values()]
        return [match and match.ratio for match in matches]


async def test_H30_two_of_three_distinct_pictures_are_held() -> None:
    pool = Pool("a", "b")
    request, views = await pool.ask("one", "two", "two")
    await pool.producer.before_request(request, result_of(default=views["a"]))

    assert await pool.ratios("one", "two", "three") == [pytest.approx(2 / 3), 0.0]


async def test_without_media_nothing_is_written() -> None:
    pool = Pool("a")

    assert await pool.ratios() == [None]
    assert await pool.ratios("") == [None]
    assert pool.metrics.encoder_queries == []


async def test_field_P36_the_pod_that_encoded_is_recorded() -> None:
    pool = Pool("encoder", "decoder")
    request, views = await pool.ask("one")
    await pool.producer.before_request(request, result_of(encode=views["encoder"], decode=views["decoder"]))

    assert await pool.ratios("one") == [1.0, 0.0]
    assert pool.metrics.encoder_hits == [("encoder", "image")]


async def test_the_reference_records_the_primary_pod() -> None:
    pool = Pool("encoder", "decoder", compat=REFERENCE)
    request, views = await pool.ask("one")
    await pool.producer.before_request(request, result_of(encode=views["encoder"], decode=views["decoder"]))

    assert await pool.ratios("one") == [0.0, 1.0]


async def test_the_oldest_item_falls_out_and_look_ups_keep_none() -> None:
    pool = Pool("a", size=4)
    for item in ("one", "two"):
        request, views = await pool.ask(item)
        await pool.producer.before_request(request, result_of(default=views["a"]))
    await pool.ratios("one")
    request, views = await pool.ask("three")
    await pool.producer.before_request(request, result_of(default=views["a"]))

    assert [await pool.ratios(item) for item in ("one", "two", "three")] == [[0.0], [1.0], [1.0]]


async def test_a_pod_that_is_gone_is_forgotten() -> None:
    pool = Pool("a")
    request, views = await pool.ask("one")
    pool.producer.endpoint_removed(pool.live["a"])
    await pool.producer.before_request(request, result_of(default=views["a"]))

    assert pool.producer.debug_state()["totalPods"] == 0
    assert pool.metrics.encoders_forgotten == ["a"]


async def test_queries_count_items_and_hits_count_holders() -> None:
    pool = Pool("a", "b")
    for name in ("a", "b"):
        request, views = await pool.ask("one")
        await pool.producer.before_request(request, result_of(default=views[name]))
    pool.metrics.encoder_queries.clear()
    pool.metrics.encoder_hits.clear()

    await pool.ask("one", "two")

    assert pool.metrics.encoder_queries == ["image", "image"]
    assert pool.metrics.encoder_hits == [("a", "image"), ("b", "image")]
    assert pool.metrics.encoder_ratios[-2:] == [0.5, 0.5]


async def test_series_of_a_pod_stay_as_long_as_one_of_its_ports() -> None:
    pool = Pool("a")
    other_rank = live_endpoint("a")
    pool.producer.endpoint_added(other_rank)

    pool.producer.endpoint_removed(other_rank)

    assert pool.metrics.encoders_forgotten == []
