import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.framework.units import parse_duration, parse_quantity


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("60s", 60),
        ("200ms", 0.2),
        ("1m30s", 90),
        ("1h2m3.5s", 3723.5),
        ("1.5h", 5400),
        ("250us", 0.00025),
        ("250µs", 0.00025),
        ("1ns", 1e-9),
        (".5s", 0.5),
        ("0", 0),
        ("0s", 0),
        ("-5s", -5),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds, rel=1e-12)


@pytest.mark.parametrize("text", ["", "60", "s", "1 s", "1d", "1s ", "--1s", "1s1", "१s", "9" * 400 + "s"])
def test_no_durations(text: str) -> None:
    with pytest.raises(ValueError, match="duration such as"):
        parse_duration(text)


def test_durations_end_where_go_cannot_count_on() -> None:
    assert parse_duration("2562047h") == 2562047 * 3600
    with pytest.raises(ValueError, match="longer than 292 years"):
        parse_duration("2562048h")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (1000, 1000),
        ("1000", 1000),
        ("1G", 10**9),
        ("1Gi", 2**30),
        ("1.5k", 1500),
        ("100m", 1),
        ("1e3", 1000),
        ("1E", 10**18),
        ("2E3", 2000),
        ("0.5Ki", 512),
        ("-1", -1),
        ("0", 0),
    ],
)
def test_quantities(text: str | int, value: int) -> None:
    assert parse_quantity(text) == value


@pytest.mark.parametrize("text", ["", "G", "1GB", "1 G", "1K", "one", "1e", "1ki", "9" * 5000])
def test_no_quantities(text: str) -> None:
    with pytest.raises(ValueError, match="quantity such as"):
        parse_quantity(text)


@given(st.integers(0, 10**6), st.integers(0, 59), st.integers(0, 999))
def test_parts_add_up(minutes: int, seconds: int, milliseconds: int) -> None:
    assert parse_duration(f"{minutes}m{seconds}s{milliseconds}ms") == pytest.approx(60 * minutes + seconds + milliseconds / 1000)
