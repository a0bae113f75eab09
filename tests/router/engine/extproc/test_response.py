from collections.abc import Mapping

import pytest
from prometheus_client import CollectorRegistry

from router.engine.control.stages import StagePlugins, Stages
from router.engine.extproc.response import Placed, ResponseFollower, usage_readers
from router.framework.control import TerminationCause
from router.framework.parsing import Usage, UsageReader
from router.framework.plugin import NoParameters
from router.metrics.requests import RequestMetrics
from router.metrics.scheduling import SchedulingMetrics
from router.payloads.opaque import OpaquePayload
from router.payloads.usage import JsonUsageReader, StreamUsageReader
from router.plugins.parsers.passthrough_parser import PassthroughParser
from tests.support.engine import FakeClock, candidate, inference_request, make_handle, result_of
from tests.support.exchange import CountingBooks, make_parsers


class FaultyReader(UsageReader):
    """Breaks on whatever it gets."""

    def __init__(self) -> None:
        self.fed = 0

    def feed(self, chunk: bytes) -> None:
        self.fed += 1
        raise ZeroDivisionError("broken")

    def usage(self) -> Usage | None:
        raise ZeroDivisionError("broken")


def follower(books: CountingBooks, *readers: UsageReader | None, registry: CollectorRegistry | None = None) -> ResponseFollower:
    registry = registry or CollectorRegistry()
    metrics, clock = RequestMetrics(registry), FakeClock()
    stages = Stages(StagePlugins(response_body=(books,)), clock=clock, metrics=SchedulingMetrics(registry))
    request = inference_request()
    recorder = stages.response_parsing(PassthroughParser("p", NoParameters(), make_handle()))
    series = metrics.series("m", "m", "f", 0)
    placed = Placed(request=request, result=result_of(default=candidate()), series=series, observe_reading=recorder)
    books.open[request.id] = placed.result.target
    one, stream = readers or (JsonUsageReader(), StreamUsageReader())
    return ResponseFollower(placed, (one, stream), stages, metrics, clock)


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({":status": "200"}, ""),
        ({":status": "399"}, ""),
        ({":status": "400"}, "ModelServerError"),
        ({"status": "500"}, "ModelServerError"),
        ({":status": "x"}, "ModelServerError"),
        ({}, ""),
    ],
)
async def test_status_decides_whether_it_failed(headers: Mapping[str, str], code: str) -> None:
    followed = follower(CountingBooks())

    await followed.headers(headers, end_of_stream=False)

    assert followed.error_code == code


async def test_content_type_decides_how_usage_is_read() -> None:
    books = CountingBooks()
    followed = follower(books)
    await followed.headers({"content-type": "text/event-stream"}, end_of_stream=False)

    followed.chunk(b'data: {"usage":{"prompt_tokens":3}}\n\n', end_of_stream=True)

    assert books.steps[-1].usage == Usage(prompt_tokens=3)


async def test_broken_reader_is_left_alone_and_the_response_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    books, reader = CountingBooks(), FaultyReader()
    followed = follower(books, reader, FaultyReader())
    await followed.headers({}, end_of_stream=False)

    followed.chunk(b"a", end_of_stream=False)
    followed.chunk(b"b", end_of_stream=True)

    assert reader.fed == 1
    assert [(step.usage, step.size_bytes) for step in books.steps] == [(None, 1), (None, 2)]
    assert "usage is not read" in caplog.text


async def test_empty_chunk_is_not_the_first() -> None:
    books = CountingBooks()
    followed = follower(books)

    followed.chunk(b"", end_of_stream=False)
    followed.chunk(b"x", end_of_stream=False)

    assert [step.first for step in books.steps] == [True]


async def test_end_is_told_once() -> None:
    books = CountingBooks()
    followed = follower(books)

    followed.end(TerminationCause.ERROR)
    followed.end(TerminationCause.NATURAL)
    followed.chunk(b"late", end_of_stream=True)

    assert books.causes == ["error"]
    assert followed.settled


def test_readers_are_made_for_both_kinds() -> None:
    openai = make_parsers()[0]

    one, stream = usage_readers(openai, OpaquePayload(raw=b""))

    assert isinstance(one, JsonUsageReader)
    assert isinstance(stream, StreamUsageReader)


async def test_response_that_need_not_be_read_is_followed_all_the_same() -> None:
    books = CountingBooks()
    one, stream = usage_readers(make_parsers()[0], OpaquePayload(raw=b"", skip_response=True))
    followed = follower(books, one, stream)
    await followed.headers({}, end_of_stream=False)

    followed.chunk(b'{"usage":{"prompt_tokens":1}}', end_of_stream=True)

    assert (one, stream) == (None, None)
    assert [(step.usage, step.cause is None) for step in books.steps] == [(None, False)]


@pytest.mark.parametrize("read", [True, False], ids=["read", "unread"])
async def test_the_time_of_reading_is_told_once_for_each_response(*, read: bool) -> None:
    registry = CollectorRegistry()
    reader = JsonUsageReader() if read else None
    followed = follower(CountingBooks(), reader, reader, registry=registry)
    await followed.headers({}, end_of_stream=False)

    for last in (False, False, True):
        followed.chunk(b"{}", end_of_stream=last)

    labels = {"extension_point": "ResponseParsing", "plugin_type": "", "plugin_name": "p"}
    count = registry.get_sample_value("llm_d_epp_plugin_duration_seconds_count", labels)
    assert (count or 0) == read


async def test_counts_below_zero_are_not_recorded() -> None:
    registry = CollectorRegistry()
    followed = follower(CountingBooks(), registry=registry)
    await followed.headers({}, end_of_stream=False)

    usage = b'{"usage":{"prompt_tokens":-3,"completion_tokens":-1,"prompt_tokens_details":{"cached_tokens":-2}}}'
    followed.chunk(usage, end_of_stream=True)

    labels = {"model_name": "m", "target_model_name": "m", "fairness_id": "f", "priority": "0"}
    for name in ("input", "output", "cached"):
        assert not registry.get_sample_value(f"llm_d_epp_request_{name}_tokens_count", labels)
