import aiohttp

from local.counters import Counters, fetch_all, fetch_text, read_counters, samples
from tests.support.loopback import serving, text

PAGE = """# HELP vllm:request_success_total finished requests
# TYPE vllm:request_success_total counter
vllm:request_success_total{engine="0",finished_reason="stop",model_name="m"} 3.0
vllm:request_success_total{engine="0",finished_reason="length",model_name="m"} 2.0
vllm:request_success_total{engine="0",finished_reason="abort",model_name="m"} 7.0
vllm:request_success_created{engine="0",finished_reason="stop",model_name="m"} 1.7e9
vllm:prefix_cache_queries_total{engine="0",model_name="m"} 1.5e+03
vllm:prefix_cache_hits_total{engine="0",model_name="m"} 700.0
vllm:prefix_cache_hits_total{engine="1",model_name="m"} 40.0
vllm:mm_cache_queries_total{engine="0",model_name="m"} 4.0
vllm:mm_cache_hits_total{engine="0",model_name="m"} 1.0
vllm:num_requests_running{engine="0",model_name="m"} 2.0
vllm:num_requests_waiting{engine="0",model_name="m"} 1.0
"""


def test_the_counters_of_a_vllm_server_are_read() -> None:
    found = read_counters(PAGE)

    assert found == Counters(requests=5, prefix_hits=740, prefix_queries=1500, media_hits=1, media_queries=4, running=2, waiting=1)


def test_a_page_without_them_counts_nothing() -> None:
    assert read_counters("# nothing\n") == Counters()


def test_growth_is_the_difference_and_gauges_are_the_later_ones() -> None:
    before = Counters(requests=1, prefix_hits=10, media_hits=1, running=5)
    after = Counters(requests=3, prefix_hits=710, media_hits=2, running=0)

    assert after.since(before) == Counters(requests=2, prefix_hits=700, media_hits=1, running=0)


def test_labels_may_hold_quotes_and_none_may_be_there() -> None:
    found = samples('a{x="1\\"2",y=""} 4\nb 5\nab 6\n', ("a", "b"))

    assert found == [("a", {"x": '1\\"2', "y": ""}, 4.0), ("b", {}, 5.0)]


async def test_pages_are_fetched_together_and_what_fails_is_none() -> None:
    async with serving({"/a": text("A"), "/b": text("B", 500)}) as url, aiohttp.ClientSession() as session:
        found = await fetch_all(session, {"a": f"{url}/a", "b": f"{url}/b"})

    assert found == {"a": "A", "b": None}
    async with aiohttp.ClientSession() as session:
        assert await fetch_text(session, f"{url}/a") is None
