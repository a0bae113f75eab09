import pytest

from local.backoff import Backoff


def test_the_first_restart_is_immediate_and_the_next_wait_twice_as_long_each() -> None:
    backoff = Backoff(scale=1)

    assert [backoff.delay(1) for _ in range(8)] == [0, 10, 20, 40, 80, 160, 300, 300]


def test_a_container_that_ran_long_starts_over() -> None:
    backoff = Backoff(scale=1)
    for _ in range(4):
        backoff.delay(1)

    assert backoff.delay(600) == 0
    assert backoff.delay(599) == 10


def test_all_times_are_scaled() -> None:
    backoff = Backoff(scale=0.1)

    assert [backoff.delay(1) for _ in range(3)] == pytest.approx([0, 1, 2])
    assert backoff.delay(60) == 0
