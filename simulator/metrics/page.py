"""Writes the counters as a Prometheus text page.

The text around every number is made once; a scrape joins it with the numbers. Routers ask every 50 ms.
"""

from collections.abc import Callable, Iterator, Sequence

from simulator.metrics.counters import REASONS, Counters
from simulator.metrics.histogram import Histogram
from simulator.options import Options

Value = Callable[[], float]
Sample = tuple[str, Value | None]  # without a value: a line as it is


class Page:
    """The page of one server; `text` renders it."""

    def __init__(self, counters: Counters, options: Options, started: float) -> None:
        self._counters = counters
        self._model = _escaped(options.names[0])
        self._started = started
        self._samples = [*self._gauges(options), *self._counter_samples(), *self._simulation()]
        self._histograms = [self._histogram(name, histogram) for name, histogram in counters.histograms.items()]

    def text(self) -> str:
        """The whole page."""
        parts: list[str] = []
        for head, value in self._samples:
            parts.append(head if value is None else f"{head} {value()}\n")
        for write in self._histograms:
            parts.append(write())
        for (handler, method, status), count in self._counters.http.items():
            parts.append(f'http_requests_total{{handler="{handler}",method="{method}",status="{status}"}} {count}\n')
        return "".join(parts)

    def _gauges(self, options: Options) -> Iterator[Sample]:
        c = self._counters
        yield from self._family("num_requests_running", "gauge", [("", lambda: c.running)])
        yield from self._family("num_requests_waiting", "gauge", [("", lambda: c.waiting)])
        reasons: list[tuple[str, Value]] = [('reason="capacity"', lambda: c.waiting), ('reason="deferred"', lambda: 0)]
        yield from self._family("num_requests_waiting_by_reason", "gauge", reasons)
        yield from self._family("kv_cache_usage_perc", "gauge", [("", lambda: c.kv_usage)])
        yield from self._family("engine_sleep_state", "gauge", [('sleep_state="awake"', lambda: 1)])
        info = (
            f'block_size="{options.block_size}",cache_dtype="auto",enable_prefix_caching="{options.enable_prefix_caching}",'
            f'gpu_memory_utilization="0.9",kv_cache_size_tokens="{options.block_size * options.num_gpu_blocks}",'
            f'num_gpu_blocks="{options.num_gpu_blocks}",prefix_caching_hash_algo="sha256"'
        )
        yield from self._family("cache_config_info", "gauge", [(info, lambda: 1)])

    def _counter_samples(self) -> Iterator[Sample]:
        c = self._counters
        finished = [(f'finished_reason="{reason}"', lambda reason=reason: c.success[reason]) for reason in REASONS]
        yield from self._family("request_success_total", "counter", finished)
        plain: tuple[tuple[str, Value], ...] = (
            ("prefix_cache_queries_total", lambda: c.prefix_queries),
            ("prefix_cache_hits_total", lambda: c.prefix_hits),
            ("external_prefix_cache_queries_total", lambda: 0),
            ("external_prefix_cache_hits_total", lambda: 0),
            ("mm_cache_queries_total", lambda: c.mm_queries),
            ("mm_cache_hits_total", lambda: c.mm_hits),
            ("num_preemptions_total", lambda: c.preemptions),
            ("prompt_tokens_total", lambda: c.prompt_tokens),
            ("prompt_tokens_cached_total", lambda: c.prompt_tokens_cached),
            ("generation_tokens_total", lambda: c.generation_tokens),
        )
        for name, value in plain:
            yield from self._family(name, "counter", [("", value)])
        sources: list[tuple[str, Value]] = [
            ('source="local_compute"', lambda: c.prompt_tokens - c.prompt_tokens_cached),
            ('source="local_cache_hit"', lambda: c.prompt_tokens_cached),
            ('source="external_kv_transfer"', lambda: 0),
        ]
        yield from self._family("prompt_tokens_by_source_total", "counter", sources)

    def _simulation(self) -> Iterator[Sample]:
        c = self._counters
        yield "# TYPE sim_encode_items_total counter\n", None
        for source in c.encode_items:
            yield f'sim_encode_items_total{{source="{source}"}}', lambda source=source: c.encode_items[source]
        yield "# TYPE sim_encode_seconds_total counter\n", None
        yield "sim_encode_seconds_total", lambda: c.encode_seconds

    def _family(self, name: str, kind: str, series: Sequence[tuple[str, Value]]) -> Iterator[Sample]:
        base = name.removesuffix("_total")
        yield f"# HELP vllm:{name} As vLLM's metric of this name.\n# TYPE vllm:{name} {kind}\n", None
        for labels, value in series:
            yield f"vllm:{name}{{{self._labels(labels)}}}", value
        if kind == "counter":
            yield f"# HELP vllm:{base}_created As vLLM's metric of this name.\n# TYPE vllm:{base}_created gauge\n", None
            for labels, _ in series:
                yield f"vllm:{base}_created{{{self._labels(labels)}}} {self._started:.3f}\n", None

    def _labels(self, own: str = "") -> str:
        """The labels of a series in alphabetical order, as vLLM writes them; `own` are those beside engine and model, comma separated."""
        pairs = own.split(",") if own else []
        return ",".join(sorted(['engine="0"', *pairs, f'model_name="{self._model}"']))

    def _histogram(self, name: str, histogram: Histogram) -> Callable[[], str]:
        bounds = [f"{bound:g}" if bound < 1e6 else str(int(bound)) for bound in histogram.bounds]
        labels = [self._labels(f'le="{bound}"') for bound in (*bounds, "+Inf")]
        heads = [f"vllm:{name}_bucket{{{text}}} " for text in labels]
        head = f"# HELP vllm:{name} As vLLM's metric of this name.\n# TYPE vllm:{name} histogram\n"
        tail = f"vllm:{name}_count{{{self._labels()}}} ", f"vllm:{name}_sum{{{self._labels()}}} "

        def write() -> str:
            below, lines = 0, [head]
            for text, count in zip(heads, histogram.counts, strict=True):
                below += count
                lines.append(f"{text}{below}\n")
            lines.append(f"{tail[0]}{below}\n{tail[1]}{histogram.total:.9g}\n")
            return "".join(lines)

        return write


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
