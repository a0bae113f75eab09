from simulator.metrics.histogram import Histogram, one_two_five


def test_a_value_counts_in_the_first_bucket_that_holds_it() -> None:
    histogram = Histogram((1, 2))
    for value in (0.5, 1, 1.5, 9):
        histogram.observe(value)

    assert histogram.counts == [2, 1, 1]
    assert (histogram.count, histogram.total) == (4, 12)


def test_bounds_in_one_two_five_steps() -> None:
    assert one_two_five(100) == [1, 2, 5, 10, 20, 50, 100]
