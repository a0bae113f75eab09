import pytest

from simulator.metrics.counters import REASONS, Counters
from tests.support.simulated import item, media_prompt, sequence, text_prompt


def test_every_reason_exists_from_the_start() -> None:
    assert dict(Counters(100).success) == dict.fromkeys(REASONS, 0)


def test_an_admitted_prompt_counts_queries_and_hits_in_tokens() -> None:
    counters, admitted = Counters(100), sequence(text_prompt(10))
    admitted.cached_tokens = 8
    counters.admitted(admitted)

    assert (counters.prefix_queries, counters.prefix_hits, counters.prompt_tokens_cached) == (10, 8, 8)


def test_an_image_inside_the_cached_prefix_is_counted_as_such() -> None:
    counters, admitted = Counters(100), sequence(media_prompt("", item("i", 4)))
    admitted.cached_tokens = 8
    counters.admitted(admitted)

    assert counters.encode_items["prefix"] == 1


def test_latencies_of_tokens() -> None:
    counters, running = Counters(100), sequence(text_prompt(4))
    counters.token(running, 2.0)
    counters.token(running, 2.5)

    assert counters.histograms["time_to_first_token_seconds"].total == pytest.approx(2.0)
    assert counters.histograms["inter_token_latency_seconds"].total == pytest.approx(0.5)


def test_a_finished_sequence_is_counted_by_reason_and_time() -> None:
    counters, ended = Counters(100), sequence(text_prompt(4))
    ended.finish_reason, ended.produced = "stop", 3
    ended.times.scheduled, ended.times.first_token, ended.times.finished = 1.0, 2.0, 4.0
    counters.finished(ended)

    totals = {name: histogram.total for name, histogram in counters.histograms.items()}
    assert counters.success["stop"] == 1
    assert totals["request_queue_time_seconds"] == 1.0
    assert totals["request_prefill_time_seconds"] == 1.0
    assert totals["request_decode_time_seconds"] == 2.0
    assert totals["e2e_request_latency_seconds"] == 4.0
    assert totals["request_time_per_output_token_seconds"] == 1.0
