import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.exposition.page import Selector, latest, parse_selector, samples
from router.framework.errors import ConfigError

PAGE = b"""# HELP waiting Requests.
# TYPE waiting gauge
waiting{engine="0",model_name="m"} 2.0
waiting{engine="1",model_name="m"} 3.0
waiting_by_reason{reason="capacity"} 9.0
plain 7
odd{text="a}b\\"c\\\\d\\ne"} +Inf 12
"""


def values(page: bytes, selector: str) -> list[str]:
    return [sample.value for sample in samples(page, parse_selector(selector))]


def test_n01_a_selector_has_a_name_and_labels() -> None:
    found = parse_selector("nv_trt_llm_request_metrics{request_type=waiting}")

    assert found == Selector("nv_trt_llm_request_metrics", {"request_type": "waiting"})


def test_n02_quotes_are_optional() -> None:
    assert parse_selector('m{a="b"}') == parse_selector("m{a=b}")


def test_n03_the_largest_timestamp_wins_and_the_first_of_equals() -> None:
    page = b'm{i="0"} 10 5\nm{i="1"} 11 9\nm{i="2"} 12 9\n'

    found = latest(page, parse_selector("m"))

    assert found is not None
    assert found.labels == {"i": "1"}


def test_n04_without_timestamps_the_first_series_counts() -> None:
    found = latest(b'm{i="0"} 1\nm{i="1"} 2\n', parse_selector("m"))

    assert found is not None
    assert found.value == "1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("waiting", ["2.0", "3.0"], id="name-only"),
        pytest.param("waiting{engine=1}", ["3.0"], id="with-label"),
        pytest.param("waiting{engine=1,model_name=other}", [], id="label-differs"),
        pytest.param("wait", [], id="prefix-of-a-name"),
        pytest.param("plain", ["7"], id="no-labels"),
        pytest.param("absent", [], id="absent"),
    ],
)
def test_samples_match_by_whole_name_and_labels(text: str, expected: list[str]) -> None:
    assert values(PAGE, text) == expected


def test_label_values_may_hold_braces_quotes_and_escapes() -> None:
    found = latest(PAGE, parse_selector("odd"))

    assert found is not None
    assert (found.value, found.timestamp, found.labels["text"]) == ("+Inf", 12.0, 'a}b"c\\d\ne')


def test_the_first_and_the_last_line_of_a_page_are_read() -> None:
    assert values(b"m 1\nn 2", "m") == ["1"]
    assert values(b"m 1\nn 2", "n") == ["2"]


def test_lines_that_are_cut_off_are_passed_over() -> None:
    assert values(b'm{a="b\nm', "m") == []


@pytest.mark.parametrize("text", ["", "1m", "m{", "m{a}", "m{a=b", "m{=b}", "m n", "m{a=b}x"])
def test_a_selector_that_is_none_is_refused_with_its_text(text: str) -> None:
    with pytest.raises(ConfigError, match="is not a metric"):
        parse_selector(text)


LABELS = st.dictionaries(st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True), st.text(max_size=12), max_size=4)


@given(LABELS, st.floats(allow_nan=False), st.binary(max_size=60))
def test_what_is_written_is_found_again(labels: dict[str, str], value: float, noise: bytes) -> None:
    escaped = {k: v.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for k, v in labels.items()}
    line = "m{" + ",".join(f'{k}="{v}"' for k, v in escaped.items()) + f"}} {value}"
    page = b"# noise " + noise.replace(b"\n", b"") + b"\n" + line.encode() + b"\nother 1\n"

    found = latest(page, Selector("m"))

    assert found is not None
    assert found.labels == labels
    assert float(found.value) == value


@given(st.binary(max_size=300))
def test_any_bytes_can_be_searched(page: bytes) -> None:
    list(samples(b"m" + page.replace(b" ", b"\nm "), Selector("m")))


def test_a_selector_reads_like_its_text() -> None:
    assert str(parse_selector("m{a=b}")) == 'm{a="b"}'
    assert str(parse_selector("m")) == "m"
