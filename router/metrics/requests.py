"""Metrics of requests and responses (prefix `llm_d_epp_`), each also under its deprecated name where it has one."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from router.metrics.aliases import SummedAlias
from router.metrics.labels import LabelCap

_NAMESPACE: Final = "llm_d_epp"
_OLD: Final = "inference_objective"
LABELS: Final = ("model_name", "target_model_name", "fairness_id", "priority")
Observe = Callable[[float], None]
_MODEL: Final = ("model_name", "target_model_name")

# Bucket sets as the dashboards of the reference expect them; 32778 is its spelling.
_DURATION = (
    *(0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60, 120, 180, 240, 300),
    *(360, 480, 600, 900, 1200, 1800, 2700, 3600),
)
_REQUEST_BYTES = tuple(float(64 * 2**k) for k in range(25))
_RESPONSE_BYTES = (1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32778, 65536)
_TOKENS = (*_RESPONSE_BYTES, 131072, 262144, 524288, 1048576)
_OUTPUT_TOKENS = (1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
_NTPOT = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_TTFT = (0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60, 120)
_TPOT = (0.0005, 0.00205, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.125, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 2)
_ITL = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 2)
_REQUEST_PROCESSING = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.015, 0.025, 0.04, 0.06, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_RESPONSE_PROCESSING = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
_STREAM = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600)


class RequestSeries:
    """The metrics of one label set, each resolved once, when it is first needed: a name that no pod serves has few series."""

    def __init__(self, metrics: "RequestMetrics", labels: tuple[str, ...]) -> None:
        self._labels = labels
        self._metrics = metrics
        self.count_request = metrics.requests.labels(*labels).inc
        self.running = metrics.running.labels(*labels) if labels[0] else None

    @cached_property
    def request_bytes(self) -> Observe:
        """Size of the request's body."""
        return self._metrics.request_bytes.labels(*self._labels).observe

    @cached_property
    def response_bytes(self) -> Observe:
        """Size of the response's body."""
        return self._metrics.response_bytes.labels(*self._labels).observe

    @cached_property
    def duration(self) -> Observe:
        """Receipt of the request to the end of its response."""
        return self._metrics.duration.labels(*self._labels).observe

    @cached_property
    def input_tokens(self) -> Observe:
        """Prompt tokens as reported."""
        return self._metrics.input_tokens.labels(*self._labels).observe

    @cached_property
    def output_tokens(self) -> Observe:
        """Completion tokens as reported."""
        return self._metrics.output_tokens.labels(*self._labels).observe

    @cached_property
    def cached_tokens(self) -> Observe:
        """Prompt tokens served from a cache."""
        return self._metrics.cached_tokens.labels(*self._labels).observe

    @cached_property
    def ntpot(self) -> Observe:
        """Duration per completion token."""
        return self._metrics.ntpot.labels(*self._labels).observe

    @cached_property
    def tpot(self) -> Observe:
        """Time per token after the first."""
        return self._metrics.tpot.labels(*self._labels).observe

    @cached_property
    def itl(self) -> Observe:
        """Time between chunks of a stream."""
        return self._metrics.itl.labels(*self._labels).observe

    def count_error(self, code: str) -> None:
        """A failed stream; `code` is an error code, `ModelServerError` or `Unknown`."""
        self._metrics.errors.labels(*self._labels, code).inc()

    def ttft(self, seconds: float, *, streaming: bool) -> None:
        """Receipt of the request to the first byte of the response's body."""
        (self._streamed_ttft if streaming else self._plain_ttft)(seconds)

    @cached_property
    def _plain_ttft(self) -> Observe:
        return self._metrics.ttft.labels(*self._labels, "false").observe

    @cached_property
    def _streamed_ttft(self) -> Observe:
        return self._metrics.ttft.labels(*self._labels, "true").observe


class RequestMetrics:
    """Records requests. Names that clients choose are capped here."""

    def __init__(self, registry: CollectorRegistry, *, models: LabelCap | None = None, fairness_ids: LabelCap | None = None) -> None:
        self.models = models or LabelCap()
        self._fairness_ids = fairness_ids or LabelCap()
        self._registry = registry
        self._series: dict[tuple[str, ...], RequestSeries] = {}
        self.requests = Counter("request_total", "Requests placed on an endpoint.", LABELS, namespace=_NAMESPACE, registry=registry)
        self.errors = Counter("request_error_total", "Failed requests.", (*LABELS, "error_code"), namespace=_NAMESPACE, registry=registry)
        self.running = Gauge("request_running", "Requests sent on and not yet ended.", LABELS, namespace=_NAMESPACE, registry=registry)
        self.request_bytes = self._histogram("request_size_bytes", "Size of request bodies sent on.", _REQUEST_BYTES)
        self.response_bytes = self._histogram("response_size_bytes", "Size of response bodies.", _RESPONSE_BYTES)
        self.duration = self._histogram("request_duration_seconds", "Receipt of a request to the end of its response.", _DURATION)
        self.input_tokens = self._histogram("request_input_tokens", "Prompt tokens as reported.", _TOKENS)
        self.output_tokens = self._histogram("request_output_tokens", "Completion tokens as reported.", _OUTPUT_TOKENS)
        self.cached_tokens = self._histogram("request_cached_tokens", "Prompt tokens served from a cache.", _TOKENS)
        self.ntpot = self._histogram("request_ntpot_seconds", "Duration per completion token.", _NTPOT)
        self.ttft = self._histogram("request_ttft_seconds", "Receipt to first byte of the body.", _TTFT, ("streaming",))
        self.tpot = self._histogram("request_streaming_tpot_seconds", "Time per token after the first.", _TPOT)
        self.itl = self._histogram("request_streaming_itl_seconds", "Time between chunks of a stream.", _ITL)
        self._request_processing = self._histogram(
            "request_processing_duration_seconds", "Receipt to the reply, waiting included.", _REQUEST_PROCESSING, labels=()
        )
        self._response_processing = self._histogram(
            "response_processing_duration_seconds", "Work on one response.", _RESPONSE_PROCESSING, labels=()
        )
        self._register_aliases()

    def series(self, model: str, target_model: str, fairness_id: str, priority: int) -> RequestSeries:
        """The metrics of one label set."""
        labels = (self.models(model), self.models(target_model), self._fairness_ids(fairness_id), str(priority))
        series = self._series.get(labels)
        if series is None:
            series = self._series[labels] = RequestSeries(self, labels)
        return series

    def request_processed(self, seconds: float) -> None:
        """A request was handled: answered, or refused."""
        self._request_processing.observe(seconds)

    def response_processed(self, seconds: float) -> None:
        """A response was handled to its end."""
        if seconds > 0:
            self._response_processing.observe(seconds)

    def _histogram(
        self, name: str, text: str, buckets: Sequence[float], more: tuple[str, ...] = (), labels: tuple[str, ...] = LABELS
    ) -> Histogram:
        return Histogram(name, text, (*labels, *more), namespace=_NAMESPACE, buckets=buckets, registry=self._registry)

    def _register_aliases(self) -> None:
        for source, name, labels in (
            (self.requests, "request", (*_MODEL, "priority")),
            (self.errors, "request_error", (*_MODEL, "error_code")),
            (self.duration, "request_duration_seconds", _MODEL),
            (self.request_bytes, "request_sizes", _MODEL),
            (self.response_bytes, "response_sizes", _MODEL),
            (self.input_tokens, "input_tokens", _MODEL),
            (self.output_tokens, "output_tokens", _MODEL),
            (self.cached_tokens, "prompt_cached_tokens", _MODEL),
            (self.running, "running_requests", ("model_name",)),
            (self.ntpot, "normalized_time_per_output_token_seconds", _MODEL),
        ):
            self._registry.register(SummedAlias(source, f"{_OLD}_{name}", labels))


class StreamCounts:
    """Metrics of ext_proc streams, made only with `--enable-grpc-stream-metrics`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._inflight = Gauge("extproc_streams_inflight", "Open ext_proc streams.", namespace=_NAMESPACE, registry=registry)
        self._duration = Histogram(
            "extproc_stream_duration_seconds", "Life of ext_proc streams.", namespace=_NAMESPACE, buckets=_STREAM, registry=registry
        )
        self._total = Counter("extproc_streams_total", "Ended ext_proc streams.", ("code",), namespace=_NAMESPACE, registry=registry)

    def stream_opened(self) -> None:
        """A stream begins."""
        self._inflight.inc()

    def stream_ended(self, code: str, seconds: float) -> None:
        """It ended with this gRPC status name."""
        self._inflight.dec()
        self._duration.observe(seconds)
        self._total.labels(code).inc()
