import re

from prometheus_client.parser import text_string_to_metric_families

from simulator.metrics.counters import Counters
from simulator.metrics.page import Page
from tests.support.simulated import options

NAME = 'model_name="Qwen/Qwen3-VL-32B-Instruct"'
LABELS = f'engine="0",{NAME}'


def page(counters: Counters, *flags: str) -> str:
    return Page(counters, options(*flags), 5.0).text()


def test_the_page_parses_and_names_each_family_once() -> None:
    names = [family.name for family in text_string_to_metric_families(page(Counters(32_768)))]

    assert len(names) == len(set(names))
    assert {"vllm:num_requests_running", "vllm:cache_config_info", "vllm:time_to_first_token_seconds"} <= set(names)


def test_counters_start_at_zero() -> None:
    text = page(Counters(100))

    for reason in ("stop", "length", "abort", "error", "repetition"):
        assert f'vllm:request_success_total{{engine="0",finished_reason="{reason}",{NAME}}} 0\n' in text
    for name in ("prefix_cache_queries", "prefix_cache_hits", "mm_cache_queries", "mm_cache_hits"):
        assert f"vllm:{name}_total{{{LABELS}}} 0\n" in text


def test_gauges_follow_the_counters() -> None:
    counters = Counters(100)
    counters.running, counters.waiting, counters.kv_usage = 3, 2, 0.25
    text = page(counters)

    assert f"vllm:num_requests_running{{{LABELS}}} 3\n" in text
    assert f"vllm:num_requests_waiting{{{LABELS}}} 2\n" in text
    assert f"vllm:kv_cache_usage_perc{{{LABELS}}} 0.25\n" in text


def test_cache_configuration_is_in_labels() -> None:
    line = re.search(r"^vllm:cache_config_info\{(.*)\} 1$", page(Counters(100), "--block-size", "32"), re.MULTILINE)

    assert line is not None
    assert 'block_size="32"' in line[1]
    assert 'num_gpu_blocks="20000"' in line[1]


def test_buckets_are_cumulative() -> None:
    counters = Counters(100)
    for value in (1, 3, 100_000):
        counters.step(value)
    text = page(counters)

    assert f'vllm:iteration_tokens_total_bucket{{engine="0",le="1",{NAME}}} 1\n' in text
    assert f'vllm:iteration_tokens_total_bucket{{engine="0",le="8",{NAME}}} 2\n' in text
    assert f'vllm:iteration_tokens_total_bucket{{engine="0",le="+Inf",{NAME}}} 3\n' in text


def test_names_are_escaped() -> None:
    assert r'model_name="a\"b"' in page(Counters(100), "--served-model-name", 'a"b')


def test_labels_are_in_alphabetical_order() -> None:
    for line in page(Counters(100)).splitlines():
        if line.startswith("vllm:"):
            names = re.findall(r'[{,](\w+)="', line)
            assert names == sorted(names)
