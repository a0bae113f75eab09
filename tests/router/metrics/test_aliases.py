from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics

from router.metrics.aliases import SummedAlias


def test_series_are_summed_over_the_labels_that_fall_away() -> None:
    registry = CollectorRegistry()
    counter = Counter("new_total", "text", ("model", "flow"), registry=registry)
    registry.register(SummedAlias(counter, "old", ("model",)))
    counter.labels("m", "a").inc(2)
    counter.labels("m", "b").inc(3)
    counter.labels("n", "a").inc(5)

    assert registry.get_sample_value("old_total", {"model": "m"}) == 5
    assert registry.get_sample_value("old_total", {"model": "n"}) == 5


def test_buckets_are_summed() -> None:
    registry = CollectorRegistry()
    histogram = Histogram("new", "text", ("model", "flow"), buckets=(1, 2), registry=registry)
    registry.register(SummedAlias(histogram, "old", ("model",)))
    histogram.labels("m", "a").observe(0.5)
    histogram.labels("m", "b").observe(1.5)

    assert registry.get_sample_value("old_bucket", {"model": "m", "le": "1.0"}) == 1
    assert registry.get_sample_value("old_bucket", {"model": "m", "le": "2.0"}) == 2
    assert registry.get_sample_value("old_bucket", {"model": "m", "le": "+Inf"}) == 2
    assert registry.get_sample_value("old_sum", {"model": "m"}) == 2.0
    assert registry.get_sample_value("old_count", {"model": "m"}) == 2


def test_both_formats_are_valid() -> None:
    registry = CollectorRegistry()
    for number, metric in enumerate((Gauge("g", "t", ("a", "b"), registry=registry), Histogram("h", "t", ("a", "b"), registry=registry))):
        registry.register(SummedAlias(metric, f"old_{number}", ("a",)))
        metric.labels("x", "y")

    assert b"old_1_bucket" in generate_latest(registry)
    assert b"old_0" in generate_openmetrics(registry)
