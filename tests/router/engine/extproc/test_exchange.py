import json
import logging
import tracemalloc
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from router import wire
from router.engine.control.stages import StagePlugins
from router.engine.extproc.exchange import Exchange
from router.engine.extproc.parsers import ParserTable
from router.engine.extproc.transport.messages import (
    BodyChunk,
    BodyReply,
    Direction,
    Headers,
    HeadersReply,
    ImmediateReply,
    Reply,
    Trailers,
    TrailersReply,
)
from router.engine.extproc.transport.seam import Ending
from router.framework.attributes.served_endpoint import served_endpoint
from router.framework.control import HeaderProcessor, ResponseHeaders
from router.framework.parsing import Usage
from router.framework.plugin import NoParameters
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult
from router.plugins.parsers.vllmgrpc_parser import VllmgrpcParser
from tests.support.engine import FakeClock, make_handle
from tests.support.exchange import Choices, CountingBooks, Rig, endpoint_metadata, make_rig
from tests.support.protobuf import field, frame, packed

REQUEST, RESPONSE = Direction.REQUEST, Direction.RESPONSE
CHAT = b'{"model":"m","messages":[{"role":"user","content":"x"}]}'
STREAM = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}'
USAGE = b'{"usage":{"prompt_tokens":7,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":2}}}'
OK = ((":status", "200"), ("content-type", "application/json"))
EVENTS = ((":status", "200"), ("content-type", "text/event-stream; charset=utf-8"))


class Faulty(HeaderProcessor):
    """Fails in a way nobody foresaw."""

    async def process_headers(self, request: InferenceRequest) -> None:
        raise ZeroDivisionError("broken")


def rig(**choices: Any) -> Rig:
    return make_rig(endpoint_metadata(), choices=Choices(**choices))


async def begin(exchange: Exchange, *pairs: tuple[str, str], metadata: Mapping[str, Any] | None = None) -> None:
    pseudo = ((":path", "/v1/chat/completions"), (wire.REQUEST_ID, "id-1"))
    assert await exchange.take(Headers(REQUEST, (*pseudo, *pairs), end_of_stream=False, metadata=metadata)) == ()


async def placed(exchange: Exchange, body: bytes = CHAT, *pairs: tuple[str, str]) -> Sequence[Reply]:
    await begin(exchange, *pairs)
    return await exchange.take(BodyChunk(REQUEST, body, end_of_stream=True))


async def answered(exchange: Exchange, *chunks: bytes, headers: tuple[tuple[str, str], ...] = OK) -> list[Reply]:
    replies = list(await exchange.take(Headers(RESPONSE, headers, end_of_stream=not chunks)))
    for number, chunk in enumerate(chunks, 1):
        replies += await exchange.take(BodyChunk(RESPONSE, chunk, end_of_stream=number == len(chunks)))
    return replies


def refused(replies: Sequence[Reply]) -> ImmediateReply:
    (reply,) = replies
    assert isinstance(reply, ImmediateReply)
    return reply


def headers_of(replies: Sequence[Reply]) -> HeadersReply:
    assert isinstance(replies[0], HeadersReply)
    return replies[0]


async def test_request_is_sent_on_with_its_destination() -> None:
    replies = await placed(rig().exchange(), CHAT, ("x-slo-ttft-ms", "5"), (wire.PREFILLER, "1.2.3.4:1"))

    headers = headers_of(replies)
    assert headers.clear_route_cache
    assert headers.set_headers == ((wire.DESTINATION, "127.0.0.1:8000"), ("content-length", str(len(CHAT))))
    assert headers.remove_headers == ("x-slo-ttft-ms", wire.PREFILLER)
    assert headers.metadata == {"envoy.lb": {wire.DESTINATION: "127.0.0.1:8000"}}
    assert replies[1:] == (BodyReply(REQUEST, CHAT, end_of_stream=True),)


async def test_field_P05_body_leaves_as_the_objects_it_came_in() -> None:
    exchange = rig().exchange()
    chunks = [CHAT[:10], CHAT[10:20], CHAT[20:]]
    await begin(exchange)
    for chunk in chunks[:2]:
        assert await exchange.take(BodyChunk(REQUEST, chunk, end_of_stream=False)) == ()

    replies = await exchange.take(BodyChunk(REQUEST, chunks[2], end_of_stream=True))

    bodies = [reply for reply in replies if isinstance(reply, BodyReply)]
    assert all(reply.data is chunk for reply, chunk in zip(bodies, chunks, strict=True))


async def test_field_P01_second_end_of_the_body_is_ignored() -> None:
    made = rig()
    exchange = made.exchange()
    first = await placed(exchange)

    second = await exchange.take(BodyChunk(REQUEST, CHAT, end_of_stream=True))

    assert first[1] == BodyReply(REQUEST, CHAT, end_of_stream=True)
    assert second == ()
    assert len(made.scheduler.seen) == 1
    assert len(made.books.open) == 1


async def test_field_P09_ipv6_destination_is_bracketed() -> None:
    exchange = make_rig(endpoint_metadata(address="fd00::1")).exchange()

    replies = await placed(exchange)

    assert (wire.DESTINATION, "[fd00::1]:8000") in headers_of(replies).set_headers


async def test_trailers_end_a_body() -> None:
    exchange = rig().exchange()
    await begin(exchange)
    await exchange.take(BodyChunk(REQUEST, CHAT, end_of_stream=False))

    replies = await exchange.take(Trailers(REQUEST))

    assert isinstance(replies[0], HeadersReply)
    assert replies[1:] == (BodyReply(REQUEST, CHAT, end_of_stream=False), TrailersReply(REQUEST))


async def test_trailers_of_a_refused_request_get_no_reply() -> None:
    exchange = rig().exchange()
    await begin(exchange)
    await exchange.take(BodyChunk(REQUEST, b"{", end_of_stream=False))

    assert refused(await exchange.take(Trailers(REQUEST))).status == 400


async def test_trailers_after_the_end_are_passed_on() -> None:
    exchange = rig().exchange()
    await placed(exchange)

    assert await exchange.take(Trailers(REQUEST)) == (TrailersReply(REQUEST),)


async def test_missing_request_id_is_made_and_forwarded() -> None:
    exchange = rig().exchange()
    await exchange.take(Headers(REQUEST, ((":path", "/v1/chat/completions"),), end_of_stream=False))

    replies = await exchange.take(BodyChunk(REQUEST, CHAT, end_of_stream=True))

    assert (wire.REQUEST_ID, "00000000-0000-0000-0000-000000000005") in headers_of(replies).set_headers


async def test_equal_request_ids_do_not_collide() -> None:
    made = rig()
    for _ in range(2):
        await placed(made.exchange())

    assert len(made.books.open) == 2


async def test_request_without_body_takes_the_random_route() -> None:
    made = rig()

    replies = await made.exchange().take(Headers(REQUEST, ((":path", "/v1/models"), (wire.ENCODERS, "1.1.1.1:1")), end_of_stream=True))

    headers = headers_of(replies)
    assert (wire.DESTINATION, "127.0.0.1:8000") in headers.set_headers
    assert headers.remove_headers == (wire.ENCODERS,)
    assert "content-length" not in dict(headers.set_headers)
    assert not made.scheduler.seen


async def test_response_to_a_request_without_body_passes() -> None:
    made = rig()
    exchange = made.exchange()
    await exchange.take(Headers(REQUEST, ((":path", "/v1/models"),), end_of_stream=True))

    replies = await answered(exchange, b"list")
    exchange.close(Ending.PEER_DONE)

    assert replies == [HeadersReply(RESPONSE, (("x-went-into-resp-headers", "true"),)), BodyReply(RESPONSE, b"list", end_of_stream=True)]
    assert not made.books.steps
    assert made.value("llm_d_epp_request_total") == 0


async def test_websocket_is_routed_at_once_and_passes_unread() -> None:
    made = rig()
    exchange = made.exchange()

    replies = await exchange.take(Headers(REQUEST, ((":path", "/v1/realtime"), ("upgrade", "WebSocket")), end_of_stream=False))
    frame = await exchange.take(BodyChunk(REQUEST, b"frame", end_of_stream=False))

    assert (wire.DESTINATION, "127.0.0.1:8000") in headers_of(replies).set_headers
    assert frame == [BodyReply(REQUEST, b"frame", end_of_stream=False)]
    assert not made.scheduler.seen


async def test_field_P12_body_is_not_kept_once_it_was_sent_on() -> None:
    made = rig()
    body = b'{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,%s"}}]}]}'
    exchanges = [made.exchange() for _ in range(4)]
    tracemalloc.start()
    try:
        for exchange in exchanges:
            await placed(exchange, body % (b"QUJD" * 500_000))
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()

    assert len(made.books.open) == 4
    assert kept < 500_000  # of 8,000,000


async def test_plugin_headers_travel() -> None:
    books = CountingBooks()
    books.adds = {wire.PREFILLER: "10.0.0.9:8000"}

    replies = await placed(rig(books=books).exchange(), CHAT, (wire.PREFILLER, "10.0.0.9:8000"))

    assert (wire.PREFILLER, "10.0.0.9:8000") in headers_of(replies).set_headers
    assert wire.PREFILLER not in headers_of(replies).remove_headers


async def test_scores_are_emitted_on_request() -> None:
    made = rig(emit_scores=True)
    made.scheduler.scores = {"a": 0.5}

    replies = await placed(made.exchange())

    assert headers_of(replies).metadata["envoy.lb"][wire.DESTINATION_SCORES] == {"127.0.0.1:8000": 0.5}


async def test_rewritten_model_changes_the_body_only_there() -> None:
    replies = await placed(rig().exchange(), CHAT, ("x-gateway-model-name-rewrite", "target"))

    wanted = CHAT.replace(b'"m"', b'"target"')
    assert list(replies[1:]) == [BodyReply(REQUEST, wanted, end_of_stream=True)]
    assert ("content-length", str(len(wanted))) in headers_of(replies).set_headers


@pytest.mark.parametrize(
    ("hint", "ignore", "count"),
    [(None, False, 3), (["10.0.0.2:8000"], False, 2), ([], False, 0), ([], True, 3), ("text", False, 3)],
    ids=["J20", "J21", "J23", "J26", "no-list"],
)
async def test_subset_hint_of_the_body_message(hint: object, ignore: bool, count: int) -> None:
    members = [endpoint_metadata(f"{a}-{p}", f"10.0.0.{a}", p) for a, p in ((1, 8000), (2, 8000), (2, 8001))]
    made = make_rig(*members, choices=Choices(ignore_subset=ignore, emit_scores=True))
    exchange = made.exchange()
    await begin(exchange)
    metadata = {} if hint is None else {wire.SUBSET_NAMESPACE: {wire.DESTINATION_SUBSET: hint}}

    replies = await exchange.take(BodyChunk(REQUEST, CHAT, end_of_stream=True, metadata=metadata))

    if count:
        assert len(headers_of(replies).metadata["envoy.lb"][wire.DESTINATION_SCORES]) == count
    else:
        reply = refused(replies)
        assert reply.status == 503
        assert dict(reply.headers)[wire.DROPPED_REASON] == "rejected-no-endpoints"


async def test_bad_body_is_refused_and_counted() -> None:
    made = rig()
    exchange = made.exchange()

    reply = refused(await placed(exchange, b"[]"))
    exchange.close(Ending.PEER_DONE)

    assert reply.status == 400
    assert json.loads(reply.body)["error"]["message"].startswith("error unmarshaling request bodyMap")
    assert exchange.over
    assert made.value("llm_d_epp_request_error_total", error_code="BadRequest") == 1
    assert made.value("llm_d_epp_request_processing_duration_seconds_count") == 1


async def test_unforeseen_fault_is_answered_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    made = rig(plugins=StagePlugins(header_processors=(Faulty("faulty"),)))
    exchange = made.exchange()

    reply = refused(await placed(exchange))
    exchange.close(Ending.PEER_DONE)

    assert (reply.status, json.loads(reply.body)["error"]["message"]) == (500, "internal error")
    assert "broken" in caplog.text
    assert made.value("llm_d_epp_request_error_total", error_code="Unknown") == 1


async def test_reference_ends_the_stream_on_an_unforeseen_fault() -> None:
    exchange = rig(plugins=StagePlugins(header_processors=(Faulty("faulty"),)), reference=True).exchange()

    with pytest.raises(ZeroDivisionError):
        await placed(exchange)


async def test_refusal_after_booking_releases_once() -> None:
    books = CountingBooks()
    books.failure = ZeroDivisionError("broken")
    made = rig(books=books)
    exchange = made.exchange()

    reply = refused(await placed(exchange))
    exchange.close(Ending.PEER_DONE)

    assert reply.status == 500
    assert not made.books.open
    assert made.books.causes == ["error"]


async def test_response_is_followed_to_its_natural_end() -> None:
    clock = FakeClock(100.0)
    made = rig(clock=clock)
    exchange = made.exchange()
    await placed(exchange)
    assert made.value("llm_d_epp_request_running") == 1
    clock.now = 102.0

    replies = await answered(exchange, USAGE[:20], USAGE[20:])
    exchange.close(Ending.PEER_DONE)

    assert [reply.data for reply in replies if isinstance(reply, BodyReply)] == [USAGE[:20], USAGE[20:]]
    assert [(step.first, step.size_bytes, step.cause is None) for step in made.books.steps] == [
        (True, 20, True),
        (False, len(USAGE), False),
    ]
    assert made.books.causes == ["natural"]
    assert made.value("llm_d_epp_request_running") == 0
    assert made.value("llm_d_epp_request_duration_seconds_sum", model_name="m", target_model_name="m", priority="0") == 2.0
    assert made.value("llm_d_epp_request_ttft_seconds_sum", streaming="false") == 2.0
    assert made.value("llm_d_epp_request_input_tokens_sum") == 7
    assert made.value("llm_d_epp_request_output_tokens_sum") == 3
    assert made.value("llm_d_epp_request_cached_tokens_sum") == 2
    assert made.value("llm_d_epp_response_size_bytes_sum") == len(USAGE)
    assert made.value("llm_d_epp_request_size_bytes_sum") == len(CHAT)


async def test_stream_is_timed_chunk_by_chunk() -> None:
    clock = FakeClock(0.0)
    made = rig(clock=clock)
    exchange = made.exchange()
    await placed(exchange, STREAM)
    await exchange.take(Headers(RESPONSE, EVENTS, end_of_stream=False))
    for now, chunk in ((1.0, b"data: {}\n\n"), (1.5, b"data: " + USAGE + b"\n\n"), (3.0, b"data: [DONE]\n\n")):
        clock.now = now
        await exchange.take(BodyChunk(RESPONSE, chunk, end_of_stream=now == 3.0))

    assert made.value("llm_d_epp_request_ttft_seconds_sum", streaming="true") == 1.0
    assert made.value("llm_d_epp_request_streaming_itl_seconds_sum") == 2.0
    assert made.value("llm_d_epp_request_streaming_itl_seconds_count") == 2
    assert made.value("llm_d_epp_request_streaming_tpot_seconds_sum") == 1.0
    assert made.value("llm_d_epp_request_ntpot_seconds_sum") == 1.0
    assert [step.first for step in made.books.steps] == [True, False]


async def test_plugins_that_want_every_chunk_get_it() -> None:
    made = rig(books=CountingBooks(every_chunk=True))
    exchange = made.exchange()
    await placed(exchange, STREAM)

    await answered(exchange, b"data: 1\n\n", b"data: 2\n\n", b"data: 3\n\n", headers=EVENTS)

    assert [(step.first, step.cause is None) for step in made.books.steps] == [(True, True), (False, True), (False, False)]


async def test_one_chunk_is_first_and_last() -> None:
    made = rig()
    exchange = made.exchange()
    await placed(exchange)

    await answered(exchange, USAGE)

    assert [(step.first, step.cause is None) for step in made.books.steps] == [(True, False)]


async def test_response_without_body_has_no_first_chunk() -> None:
    made = rig()
    exchange = made.exchange()
    await placed(exchange)

    await answered(exchange)

    assert [(step.first, step.cause is None) for step in made.books.steps] == [(False, False)]


async def test_response_trailers_complete_it() -> None:
    made = rig()
    exchange = made.exchange()
    await placed(exchange)
    await exchange.take(Headers(RESPONSE, OK, end_of_stream=False))
    await exchange.take(BodyChunk(RESPONSE, USAGE, end_of_stream=False))

    replies = await exchange.take(Trailers(RESPONSE))

    assert replies == (TrailersReply(RESPONSE, {}),)
    assert made.books.causes == ["natural"]


async def test_metadata_of_plugins_are_on_the_last_reply() -> None:
    books = CountingBooks()
    books.metadata = {"envoy.lb": {"x": 1.0}}
    exchange = rig(books=books).exchange()
    await placed(exchange)

    replies = await answered(exchange, bytes(70_000))

    assert [dict(reply.metadata) for reply in replies if isinstance(reply, BodyReply)] == [{}, {"envoy.lb": {"x": 1.0}}]


@pytest.mark.parametrize("status", ["400", "500", "503"])
async def test_error_of_the_model_server_is_counted(status: str) -> None:
    made = rig()
    exchange = made.exchange()
    await placed(exchange)

    await answered(exchange, b"{}", headers=((":status", status),))
    exchange.close(Ending.PEER_DONE)

    assert made.value("llm_d_epp_request_error_total", error_code="ModelServerError") == 1
    assert made.books.causes == ["natural"]


@pytest.mark.parametrize(
    ("ending", "response", "reference", "cause"),
    [
        (Ending.CANCELLED, False, False, "client-disconnect"),
        (Ending.CANCELLED, True, False, "error"),
        (Ending.CANCELLED, True, True, "client-disconnect"),
        (Ending.PEER_DONE, False, False, "client-disconnect"),
        (Ending.PEER_DONE, False, True, "error"),
        (Ending.PEER_DONE, True, False, "error"),
        (Ending.FAILED, False, False, "error"),
        (Ending.FAILED, True, False, "error"),
    ],
)
async def test_stream_that_ends_early_is_settled_once(ending: Ending, response: bool, reference: bool, cause: str) -> None:
    made = rig(reference=reference)
    exchange = made.exchange()
    await placed(exchange)
    if response:
        await exchange.take(Headers(RESPONSE, OK, end_of_stream=False))
        await exchange.take(BodyChunk(RESPONSE, b"x", end_of_stream=False))

    exchange.close(ending)
    exchange.close(ending)

    assert made.books.causes == [cause]
    assert not made.books.open
    assert made.value("llm_d_epp_request_running") == 0


@pytest.mark.parametrize("sent", [None, b"", b"{"], ids=["nothing", "headers", "half"])
async def test_stream_that_ends_before_the_body_books_nothing(sent: bytes | None) -> None:
    made = rig()
    exchange = made.exchange()
    if sent is not None:
        await begin(exchange)
        await exchange.take(BodyChunk(REQUEST, sent, end_of_stream=False))

    exchange.close(Ending.CANCELLED)

    assert not made.books.steps
    assert made.value("llm_d_epp_request_error_total") == 0


async def test_answer_of_the_proxy_itself_passes_and_decides_nothing() -> None:
    made = rig()
    exchange = made.exchange()
    await begin(exchange)

    await answered(exchange, b"timeout", headers=((":status", "408"),))
    late = await exchange.take(BodyChunk(REQUEST, CHAT, end_of_stream=True))

    assert late == ()
    assert not made.scheduler.seen


async def test_request_is_logged_twice_without_its_content(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="router.engine.extproc"):
        await placed(rig().exchange())

    assert [record.message for record in caplog.records] == ["request received", "request sent"]
    assert all(record.__dict__["fields"]["request_id"] == "id-1" for record in caplog.records)


async def test_the_second_line_says_for_whom_and_where(caplog: pytest.LogCaptureFixture) -> None:
    made = rig(clock=FakeClock())
    with caplog.at_level(logging.INFO, logger="router.engine.extproc"):
        await placed(made.exchange(), CHAT, ("x-llm-d-inference-objective", "batch"), ("x-llm-d-model-name-rewrite", "m-int"))

    assert caplog.records[-1].__dict__["fields"] == {
        "request_id": "id-1",
        "endpoint": "127.0.0.1:8000",
        "model": "m",
        "target_model": "m-int",
        "objective": "batch",
        "priority": 0,
        "seconds": 0.0,
    }


async def test_a_model_name_of_any_length_is_a_short_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="router.engine.extproc"):
        await placed(rig().exchange(), CHAT.replace(b'"m"', b'"%s"' % (b"m" * 100_000)))

    assert [record.__dict__["fields"]["model"] for record in caplog.records] == ["m" * 256 + "…"] * 2


async def test_nothing_is_logged_when_nobody_listens(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="router.engine.extproc"):
        await placed(rig().exchange())

    assert not caplog.records


REWRITTEN = ("x-gateway-model-name-rewrite", "m-int")


async def test_response_names_the_model_that_was_asked_for() -> None:
    made = rig()
    exchange = made.exchange()
    await placed(exchange, CHAT, REWRITTEN)

    replies = await answered(exchange, b'{"mod', b'el":"m-int","usage":{"prompt_tokens":7}}', headers=(*OK, ("content-length", "45")))

    headers, *pieces = replies
    assert isinstance(headers, HeadersReply)
    assert headers.remove_headers == ("content-length",)
    assert pieces == [
        BodyReply(RESPONSE, b"{", end_of_stream=False),
        BodyReply(RESPONSE, b'"model":"m","usage":{"prompt_tokens":7}}', end_of_stream=True),
    ]
    assert made.books.steps[-1].size_bytes == 45


async def test_trailers_release_what_was_held_back() -> None:
    exchange = rig().exchange()
    await placed(exchange, CHAT, REWRITTEN)
    await exchange.take(Headers(RESPONSE, OK, end_of_stream=False))
    await exchange.take(BodyChunk(RESPONSE, b'x"mo', end_of_stream=False))

    replies = await exchange.take(Trailers(RESPONSE))

    assert replies == (BodyReply(RESPONSE, b'"mo', end_of_stream=False), TrailersReply(RESPONSE))


async def test_grpc_responses_keep_their_names() -> None:
    exchange = rig().exchange()
    await placed(exchange, CHAT, REWRITTEN)

    replies = await answered(exchange, b'{"model":"m-int"}', headers=((":status", "200"), ("content-type", "application/grpc")))

    assert replies[0] == HeadersReply(RESPONSE, (("x-went-into-resp-headers", "true"),))
    assert replies[1:] == [BodyReply(RESPONSE, b'{"model":"m-int"}', end_of_stream=True)]


async def test_response_passes_as_the_objects_it_came_in_where_no_name_changes() -> None:
    exchange = rig().exchange()
    await placed(exchange)
    chunk = b'{"model":"m","x":"mod'

    replies = await exchange.take(BodyChunk(RESPONSE, chunk, end_of_stream=False))

    assert isinstance(replies[0], BodyReply)
    assert replies[0].data is chunk


async def test_count_of_tokens_is_placed_without_being_read() -> None:
    made = rig()
    exchange = made.exchange()
    await exchange.take(Headers(REQUEST, ((":path", "/v1/messages/count_tokens"),), end_of_stream=False))

    replies = await exchange.take(BodyChunk(REQUEST, b"anything", end_of_stream=True))
    passed = await answered(exchange, b'{"input_tokens":5}')

    assert replies[1:] == (BodyReply(REQUEST, b"anything", end_of_stream=True),)
    assert passed[1:] == [BodyReply(RESPONSE, b'{"input_tokens":5}', end_of_stream=True)]
    assert [step.usage for step in made.books.steps] == [None]


async def test_grpc_request_is_placed_by_its_tokens_and_its_answer_read() -> None:
    made = rig()
    parsers = ParserTable([VllmgrpcParser("vllmgrpc-parser", NoParameters(), make_handle())], whole_segments=True)
    exchange = Exchange(replace(made.services, parsers=parsers))
    body = frame(field(2, field(2, packed([1, 2, 3]))) + field(5, 1))
    answer = frame(field(1, field(1, packed([9])) + field(2, 3) + field(3, 1))) + frame(field(2, field(3, 3) + field(4, 2)))
    await exchange.take(Headers(REQUEST, ((":path", "/vllm.grpc.engine.VllmEngine/Generate"),), end_of_stream=False))

    replies = await exchange.take(BodyChunk(REQUEST, body, end_of_stream=True))
    await exchange.take(Headers(RESPONSE, ((":status", "200"), ("content-type", "application/grpc")), end_of_stream=False))
    await exchange.take(BodyChunk(RESPONSE, answer[:20], end_of_stream=False))
    await exchange.take(BodyChunk(RESPONSE, answer[20:], end_of_stream=False))
    await exchange.take(Trailers(RESPONSE))

    assert replies[1:] == (BodyReply(REQUEST, body, end_of_stream=True),)
    assert (made.scheduler.seen[0].target_model, made.scheduler.seen[0].stream) == ("", True)
    assert made.books.steps[-1].usage == Usage(prompt_tokens=3, completion_tokens=2, total_tokens=5)
    assert made.books.causes == ["natural"]


class Shows(ResponseHeaders):
    """Puts the endpoint that the proxy reports into a response header."""

    async def on_response_headers(self, request: InferenceRequest, result: SchedulingResult, added: dict[str, str]) -> None:
        added["x-served"] = request.read(served_endpoint()) or "nobody"


@pytest.mark.parametrize(
    ("metadata", "shown"),
    [
        ({"envoy.lb": {wire.DESTINATION_SERVED: "127.0.0.1:8000"}}, "127.0.0.1:8000"),
        ({"envoy.lb": {wire.DESTINATION_SERVED: 5}}, "nobody"),
        ({"envoy.lb": "odd"}, "nobody"),
        (None, "nobody"),
    ],
)
async def test_plugins_see_which_endpoint_the_proxy_says_has_served(metadata: Mapping[str, Any] | None, shown: str) -> None:
    exchange = rig(plugins=StagePlugins(response_headers=(Shows("shows"),))).exchange()
    await placed(exchange)

    replies = await exchange.take(Headers(RESPONSE, OK, end_of_stream=True, metadata=metadata))

    assert ("x-served", shown) in headers_of(replies).set_headers
