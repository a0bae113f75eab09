"""One ext_proc stream: collects a request, has it placed, answers in the order the protocol asks for, follows the response.

Sees plain values only. The transport calls `take` for every message and `close` once, whatever ended the stream.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from router import wire
from router.engine.control.context import RequestContext
from router.engine.control.director import Director
from router.engine.control.stages import Stages
from router.engine.extproc.framing import body_replies
from router.engine.extproc.headers import request_mutation, response_mutation, split_client_headers, stored
from router.engine.extproc.model_names import ModelNames, model_names, renames
from router.engine.extproc.parsers import ParserTable, request_path
from router.engine.extproc.random_route import RandomRoute
from router.engine.extproc.replies import refusal
from router.engine.extproc.response import Placed, ResponseFollower, usage_readers
from router.engine.extproc.transport.messages import (
    BodyChunk,
    Direction,
    Headers,
    HeadersReply,
    Message,
    Metadata,
    Reply,
    Trailers,
    TrailersReply,
)
from router.engine.extproc.transport.seam import Ending
from router.framework.compat import Compat
from router.framework.control import TerminationCause
from router.framework.errors import ErrorCode, RequestError
from router.framework.parsing import Parser
from router.framework.plugin import Clock
from router.framework.scheduling import SchedulingResult
from router.metrics.labels import LONGEST
from router.metrics.requests import RequestMetrics, RequestSeries

UNKNOWN_ERROR = "Unknown"
WEBSOCKET = "websocket"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What all exchanges share."""

    director: Director
    stages: Stages
    parsers: ParserTable
    random_route: RandomRoute
    metrics: RequestMetrics
    clock: Clock
    new_id: Callable[[], str]  # unique in this process
    new_request_id: Callable[[], str]  # a UUID, for requests that carry none
    compat: Compat
    emit_scores: bool = False  # `--emit-endpoint-scores`


class Exchange:
    """The state of one stream."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._received_at = services.clock()
        self._arrived: dict[str, str] = {}
        self._removable: tuple[str, ...] = ()
        self._headers: dict[str, str] = {}
        self._chunks: list[bytes] = []
        self._metadata: Metadata = {}
        self._tunnel = False  # both directions pass unread, such as a WebSocket's
        self._decided = False  # the request was answered, or answers itself; later body messages mean nothing
        self._series: RequestSeries | None = None
        self._follower: ResponseFollower | None = None
        self._names: ModelNames | None = None  # None: the response already names the model that was asked for
        self._running = False
        self._error_code = ""
        self._closed = False
        self.over = False

    async def take(self, message: Message) -> Sequence[Reply]:
        """Replies to a message. An error before the request was answered becomes an answer, a later one ends the stream."""
        if message.metadata is not None:
            self._metadata = message.metadata
        if message.direction is Direction.RESPONSE:
            return await self._take_response(message)
        try:
            return await self._take_request(message)
        except RequestError as error:
            return self._refuse(error)
        except Exception:
            self._error_code = UNKNOWN_ERROR
            log.exception("request failed", extra={"fields": {"request_id": self._headers.get(wire.REQUEST_ID, "")}})
            if self._services.compat.reference:
                raise
            return self._refuse(RequestError(ErrorCode.Internal, "internal error"), UNKNOWN_ERROR)

    def close(self, ending: Ending) -> None:
        """Settle whatever is open; only the first call does anything."""
        if self._closed:
            return
        self._closed = True
        if self._follower is not None:
            self._follower.end(self._cause(ending, self._follower))
            self._error_code = self._error_code or self._follower.error_code
        if self._running and self._series is not None and self._series.running is not None:
            self._series.running.dec()
        if self._error_code:
            (self._series or self._services.metrics.series("", "", wire.DEFAULT_FAIRNESS_ID, 0)).count_error(self._error_code)
        self._chunks.clear()

    def _cause(self, ending: Ending, follower: ResponseFollower) -> TerminationCause:
        """Why a response did not complete.

        Envoy half-closes or resets the stream both when the client left and when the pod broke off. Before the response only the
        first is possible: for a pod that fails then, Envoy answers itself, and that answer passes here. Later it cannot be known.
        """
        left_early = ending is not Ending.FAILED and not follower.begun
        gave_up = ending is Ending.CANCELLED if self._services.compat.reference else left_early
        return TerminationCause.CLIENT_DISCONNECT if gave_up else TerminationCause.ERROR

    async def _take_request(self, message: Message) -> Sequence[Reply]:
        match message:
            case Headers():
                return self._request_headers(message)
            case BodyChunk():
                if self._tunnel:
                    return body_replies(Direction.REQUEST, (message.data,), end_of_stream=message.end_of_stream)
                if self._decided:  # some proxies end a large body twice
                    return ()
                self._chunks.append(message.data)
                return await self._decide(end_of_stream=True) if message.end_of_stream else ()
            case Trailers():
                replies = () if self._decided else await self._decide(end_of_stream=False)
                return replies if self.over else (*replies, TrailersReply(Direction.REQUEST))

    def _request_headers(self, message: Headers) -> Sequence[Reply]:
        self._arrived, self._removable = split_client_headers(message.pairs)
        self._headers = dict(self._arrived)
        if not self._headers.get(wire.REQUEST_ID):
            self._headers[wire.REQUEST_ID] = self._services.new_request_id()
        self._tunnel = self._headers.get("upgrade", "").lower() == WEBSOCKET
        if not message.end_of_stream and not self._tunnel:
            return ()
        self._decided = True
        destination = self._services.random_route.pick(self._subset())
        return (self._headers_reply(destination, 0, _lb_metadata(destination)),)

    async def _decide(self, *, end_of_stream: bool) -> Sequence[Reply]:
        """The whole request is here: have it placed and send it on."""
        self._decided = True
        services = self._services
        body = b"".join(self._chunks)
        path = request_path(self._headers)
        parser = services.parsers.resolve(path)
        context = RequestContext(
            id=services.new_id(),
            external_id=self._headers[wire.REQUEST_ID],
            headers=self._headers,
            payload=services.stages.parse(parser, body, path, self._headers),
            size_bytes=len(body),
            received_at=self._received_at,
            subset=self._subset(),
        )
        self._log_received(context, path)
        try:
            await services.director.handle(context)
        finally:
            self._follow(context, parser)
        return self._placed(context, end_of_stream=end_of_stream)

    def _follow(self, context: RequestContext, parser: Parser) -> None:
        """From here on something may be booked, whether the request is sent on or not."""
        request, services = context.request, self._services
        if request is None:
            self._series = services.metrics.series(context.payload.model, context.target_model, wire.DEFAULT_FAIRNESS_ID, 0)
            return
        self._series = services.metrics.series(request.incoming_model, request.target_model, request.fairness_id, request.priority)
        if context.result is not None:
            recorder = services.stages.response_parsing(parser)
            placed = Placed(request=request, result=context.result, series=self._series, observe_reading=recorder)
            readers = usage_readers(parser, context.payload)
            self._follower = ResponseFollower(placed, readers, services.stages, services.metrics, services.clock)
            self._names = model_names(request, one_spelling=services.compat.reference)

    def _placed(self, context: RequestContext, *, end_of_stream: bool) -> Sequence[Reply]:
        assert context.result is not None, "the director returns placed requests only"
        assert self._series is not None, "set together with the result"
        targets = context.result.profiles[context.result.primary].targets
        destination = ",".join(target.metadata.host_port for target in targets)
        metadata = _lb_metadata(destination, _scores(context.result) if self._services.emit_scores else None)
        headers = self._headers_reply(destination, context.size_bytes, metadata)
        chunks = self._chunks if context.body is None else [context.body]
        body = body_replies(Direction.REQUEST, chunks, end_of_stream=end_of_stream)
        self._chunks = []
        self._count_placed(context.size_bytes, self._series)
        self._log_sent(context, destination)
        return (headers, *body)

    def _headers_reply(self, destination: str, body_bytes: int, metadata: dict[str, Any]) -> HeadersReply:
        changed, removed = request_mutation(
            self._arrived, self._headers, removable=self._removable, destination=destination, body_bytes=body_bytes
        )
        return HeadersReply(Direction.REQUEST, changed, removed, clear_route_cache=True, metadata=metadata)

    def _count_placed(self, size_bytes: int, series: RequestSeries) -> None:
        series.count_request()
        series.request_bytes(size_bytes)
        self._services.metrics.request_processed(self._services.clock() - self._received_at)
        if series.running is not None:
            series.running.inc()
            self._running = True

    def _refuse(self, error: RequestError, code: str = "") -> Sequence[Reply]:
        self._decided = True
        self._error_code = code or error.code.name
        self.over = True
        self._chunks = []
        if self._follower is not None:
            self._follower.end(TerminationCause.ERROR)
        self._services.metrics.request_processed(self._services.clock() - self._received_at)
        if log.isEnabledFor(logging.INFO):
            fields = {"request_id": self._headers.get(wire.REQUEST_ID, ""), "code": error.code.name, "reason": error.message}
            log.info("request refused", extra={"fields": fields})
        return (refusal(error, self._services.compat),)

    async def _take_response(self, message: Message) -> Sequence[Reply]:
        follower = self._follower
        match message:
            case Headers():
                self._decided = True  # an answer before the request's end is the proxy's own
                added: dict[str, str] = {}
                if follower:
                    follower.served_by(self._served())
                    added = await follower.headers(stored(message.pairs), end_of_stream=message.end_of_stream)
                return (HeadersReply(Direction.RESPONSE, response_mutation(added), self._outdated(message)),)
            case BodyChunk():
                attached = follower.chunk(message.data, end_of_stream=message.end_of_stream) if follower else {}
                return body_replies(Direction.RESPONSE, (self._renamed(message),), end_of_stream=message.end_of_stream, metadata=attached)
            case Trailers():
                attached = follower.end(TerminationCause.NATURAL) if follower else {}
                held = self._names.rest() if self._names else b""
                return (*body_replies(Direction.RESPONSE, (held,), end_of_stream=False), TrailersReply(Direction.RESPONSE, attached))

    def _outdated(self, message: Headers) -> tuple[str, ...]:
        """Response headers that would be wrong once names in the body are replaced."""
        if self._names is not None and not renames(stored(message.pairs)):
            self._names = None
        return (wire.CONTENT_LENGTH,) if self._names is not None else ()

    def _renamed(self, message: BodyChunk) -> bytes:
        """What goes on of a chunk of the response."""
        return message.data if self._names is None else self._names.restore(message.data, last=message.end_of_stream)

    def _served(self) -> str:
        """The endpoint that served the request, where the proxy says it in metadata."""
        reported = self._metadata.get(wire.LB_NAMESPACE)
        value = reported.get(wire.DESTINATION_SERVED) if isinstance(reported, dict) else None
        return value if isinstance(value, str) else ""

    def _subset(self) -> Sequence[object] | None:
        hint = self._metadata.get(wire.SUBSET_NAMESPACE)
        entries = hint.get(wire.DESTINATION_SUBSET) if isinstance(hint, dict) else None
        return entries if isinstance(entries, list) else None

    def _log_received(self, context: RequestContext, path: str) -> None:
        if log.isEnabledFor(logging.INFO):
            fields = {"request_id": context.external_id, "path": path, "bytes": context.size_bytes, "model": _brief(context.payload.model)}
            log.info("request received", extra={"fields": fields})

    def _log_sent(self, context: RequestContext, destination: str) -> None:
        if context.request is not None and log.isEnabledFor(logging.INFO):
            fields = {
                "request_id": context.external_id,
                "endpoint": destination,
                "model": _brief(context.payload.model),
                "target_model": _brief(context.target_model),
                "objective": _brief(context.header(wire.OBJECTIVE)),
                "priority": context.request.priority,
                "seconds": round(self._services.clock() - self._received_at, 6),
            }
            log.info("request sent", extra={"fields": fields})


def _brief(name: str) -> str:
    """A name as a log can bear it: a client may call a model what it likes, in a megabyte."""
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}…"


def _lb_metadata(destination: str, scores: dict[str, float] | None = None) -> dict[str, Any]:
    chosen: dict[str, Any] = {wire.DESTINATION: destination}
    if scores is not None:
        chosen[wire.DESTINATION_SCORES] = scores
    return {wire.LB_NAMESPACE: chosen}


def _scores(result: SchedulingResult) -> dict[str, float]:
    return {endpoint.metadata.host_port: score for endpoint, score in result.profiles[result.primary].scores.items()}
