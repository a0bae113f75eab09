import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import choose_encoder

from router.metrics.registry import PIECE_SAMPLES, Alias, exposition, new_registry
from router.version import VERSION


def test_info_tells_the_build_under_both_names() -> None:
    registry = new_registry("abc")
    labels = {"commit": "abc", "build_ref": VERSION}

    assert registry.get_sample_value("llm_d_epp_info", labels) == 1
    assert registry.get_sample_value("inference_extension_info", labels) == 1


@pytest.mark.parametrize(
    ("accept", "content_type", "ending"),
    [
        pytest.param("", "text/plain; version=", b"\n", id="text"),
        pytest.param("application/openmetrics-text; version=1.0.0", "application/openmetrics-text", b"# EOF\n", id="openmetrics"),
    ],
)
def test_the_page_comes_in_the_form_that_is_asked_for(accept: str, content_type: str, ending: bytes) -> None:
    pieces, kind = exposition(new_registry(), accept)
    page = b"".join(pieces)

    assert kind.startswith(content_type)
    assert page.endswith(ending)
    assert b"llm_d_epp_info{" in page


def test_times_of_creation_are_left_out() -> None:
    registry = CollectorRegistry()
    Counter("x_total", "X.", registry=registry).inc()

    page = b"".join(exposition(registry, "application/openmetrics-text; version=1.0.0")[0])

    assert b"x_total 1.0" in page
    assert b"_created" not in page


@pytest.mark.parametrize("accept", ["", "application/openmetrics-text; version=1.0.0"], ids=["text", "openmetrics"])
def test_pieces_make_the_page_that_one_go_makes(accept: str) -> None:
    registry = CollectorRegistry()
    sizes = Histogram("x_size", "Size.", ("model",), registry=registry)
    Gauge("x_empty", "Without series.", ("model",), registry=registry)
    for number in range(300):
        sizes.labels(f"m-{number}").observe(number)
    encode, _ = choose_encoder(accept)

    pieces = list(exposition(registry, accept)[0])

    assert max(piece.count(b"\n") for piece in pieces) <= PIECE_SAMPLES + 2
    whole = b"".join(line for line in encode(registry).splitlines(keepends=True) if b"_created" not in line)
    assert b"".join(pieces) == whole


def test_an_alias_follows_its_metric_and_renames_labels() -> None:
    registry = CollectorRegistry()
    gauge = Gauge("a_size", "Size.", ("endpoint", "extra"), registry=registry)
    registry.register(Alias(gauge, ("a_", "b_"), {"endpoint": "pod", "extra": ""}))

    gauge.labels("x", "y").set(3)

    assert registry.get_sample_value("b_size", {"pod": "x"}) == 3
