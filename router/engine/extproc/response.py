"""Follows the response of a placed request: plugins, usage, timings, and its one end."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from router.engine.control.stages import Stages
from router.framework.attributes.served_endpoint import served_endpoint
from router.framework.control import ResponseProgress, TerminationCause
from router.framework.parsing import Parser, Payload, Usage, UsageReader
from router.framework.plugin import Clock
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult
from router.metrics.requests import RequestMetrics, RequestSeries
from router.metrics.scheduling import Observe

MODEL_SERVER_ERROR = "ModelServerError"
EVENT_STREAM = "text/event-stream"

Readers = tuple[UsageReader | None, UsageReader | None]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A request whose place is settled, and what its response is measured with."""

    request: InferenceRequest
    result: SchedulingResult
    series: RequestSeries
    observe_reading: Observe  # seconds spent on reading usage, once for each response


class ResponseFollower:
    """Everything about one response that is not a message."""

    def __init__(self, placed: Placed, readers: Readers, stages: Stages, metrics: RequestMetrics, clock: Clock) -> None:
        """`readers`: for one document, for a stream."""
        self._placed = placed
        self._readers = readers
        self._stages = stages
        self._metrics = metrics
        self._clock = clock
        self._streaming = placed.request.stream
        self._reader: UsageReader | None = readers[self._streaming]
        self._bytes = 0
        self._first_at: float | None = None
        self._last_at = 0.0
        self._begun_at = 0.0
        self._worked_seconds = 0.0
        self._reading_seconds: float | None = None  # None: nothing was read
        self.begun = False  # response headers have come
        self.error_code = ""
        self.settled = False

    def served_by(self, endpoint: str) -> None:
        """What the proxy says of who answers; empty: nothing."""
        if endpoint:
            self._placed.request.write(served_endpoint(), endpoint)

    async def headers(self, headers: Mapping[str, str], *, end_of_stream: bool) -> dict[str, str]:
        """Response headers; returns what plugins add to them."""
        self.begun = True
        self._begun_at = self._clock()
        status = headers.get(":status") or headers.get("status") or "200"
        if not status.isdigit() or int(status) >= 400:
            self.error_code = MODEL_SERVER_ERROR
        if EVENT_STREAM in headers.get("content-type", ""):
            self._streaming = True
        self._reader = self._readers[self._streaming and EVENT_STREAM in headers.get("content-type", EVENT_STREAM)]
        added = await self._stages.response_headers(self._placed.request, self._placed.result)
        if end_of_stream:
            self.end(TerminationCause.NATURAL)
        return added

    def chunk(self, data: bytes, *, end_of_stream: bool) -> dict[str, Any]:
        """A piece of the body; returns dynamic metadata for the last reply."""
        if self.settled:
            return {}
        begin = self._clock()
        first = bool(data) and self._first_at is None
        if data:
            self._account(data, begin)
        if end_of_stream:
            return self.end(TerminationCause.NATURAL, first=first)
        if first or self._stages.every_chunk:
            self._tell(ResponseProgress(first=first, size_bytes=self._bytes, usage=self._usage()))
        self._worked_seconds += self._clock() - begin
        return {}

    def end(self, cause: TerminationCause, *, first: bool = False) -> dict[str, Any]:
        """Settle: nothing follows. Later calls change nothing. Returns dynamic metadata for the last reply."""
        if self.settled:
            return {}
        self.settled = True
        begin = self._clock()
        usage = self._usage()
        if self._reading_seconds is not None:
            self._placed.observe_reading(self._reading_seconds)
        attached = self._tell(ResponseProgress(first=first, size_bytes=self._bytes, usage=usage, cause=cause))
        if cause is TerminationCause.NATURAL:
            self._record(usage)
            now = self._clock()
            self._metrics.response_processed(self._worked_seconds + now - begin if self._streaming else now - self._begun_at)
        return attached

    def _account(self, data: bytes, now: float) -> None:
        self._bytes += len(data)
        if self._first_at is None:
            self._first_at = now
            self._placed.series.ttft(now - self._placed.request.received_at, streaming=self._streaming)
        elif self._streaming:
            self._placed.series.itl(now - self._last_at)
        self._last_at = now
        if self._reader is not None:
            self._feed(self._reader, data)

    def _feed(self, reader: UsageReader, data: bytes) -> None:
        begin = self._clock()
        try:
            reader.feed(data)
        except Exception:
            log.exception("usage is not read any further", extra={"fields": {"request_id": self._placed.request.external_id}})
            self._reader = None
        self._reading_seconds = (self._reading_seconds or 0.0) + self._clock() - begin

    def _usage(self) -> Usage | None:
        try:
            return self._reader.usage() if self._reader is not None else None
        except Exception:
            log.exception("usage cannot be read", extra={"fields": {"request_id": self._placed.request.external_id}})
            return None

    def _tell(self, progress: ResponseProgress) -> dict[str, Any]:
        return self._stages.progress(self._placed.request, self._placed.result, progress)

    def _record(self, usage: Usage | None) -> None:
        series, received_at = self._placed.series, self._placed.request.received_at
        duration = self._clock() - received_at
        series.response_bytes(self._bytes)
        if duration > 0:
            series.duration(duration)
        if usage is not None:
            self._record_usage(usage, duration)

    def _record_usage(self, usage: Usage, duration: float) -> None:
        series, output = self._placed.series, usage.completion_tokens or 0
        if usage.prompt_tokens is not None and usage.prompt_tokens > 0:
            series.input_tokens(usage.prompt_tokens)
        if usage.cached_tokens is not None and usage.cached_tokens >= 0:
            series.cached_tokens(usage.cached_tokens)
        if output > 0:
            series.output_tokens(output)
            series.ntpot(duration / output)
        if output > 1 and self._streaming and self._first_at is not None:
            series.tpot((duration - (self._first_at - self._placed.request.received_at)) / (output - 1))


def usage_readers(parser: Parser, payload: Payload) -> Readers:
    """Readers for one document and for a stream, made while the payload is at hand: nothing keeps the body alive after that.

    There are none for a response that need not be read. It still passes here to its end: a proxy that streams both ways waits for
    ever for chunks that it gave to a processor which left.
    """
    if payload.skip_response:
        return None, None
    return parser.usage_reader(payload, streaming=False), parser.usage_reader(payload, streaming=True)
