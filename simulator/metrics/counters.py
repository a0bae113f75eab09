"""The numbers behind `/metrics`, named as vLLM names them without the prefix."""

from collections import Counter

from simulator.metrics.histogram import Histogram, one_two_five
from simulator.sequence import Chunk, Sequence

REASONS = ("stop", "length", "abort", "error", "repetition")
TTFT = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560)
BETWEEN = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80)
WHOLE = (0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680)
STEP = (1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
CHOICES = (1, 2, 5, 10, 20)


class Counters:
    """Kept by engine and API; read by the page."""

    def __init__(self, max_model_len: int) -> None:
        self.waiting = self.running = self.preemptions = 0
        self.kv_usage = 0.0
        self.success: Counter[str] = Counter(dict.fromkeys(REASONS, 0))
        self.prefix_queries = self.prefix_hits = 0
        self.mm_queries = self.mm_hits = 0
        self.prompt_tokens = self.prompt_tokens_cached = self.generation_tokens = 0
        self.encode_items: Counter[str] = Counter({"local": 0, "encoder_cache": 0, "prefix": 0})
        self.encode_seconds = 0.0
        self.faults: Counter[str] = Counter()
        self.http: Counter[tuple[str, str, int]] = Counter()
        sizes = one_two_five(max_model_len)
        self.histograms = {
            "time_to_first_token_seconds": Histogram(TTFT),
            "inter_token_latency_seconds": Histogram(BETWEEN),
            "request_time_per_output_token_seconds": Histogram(BETWEEN),
            "e2e_request_latency_seconds": Histogram(WHOLE),
            "request_queue_time_seconds": Histogram(WHOLE),
            "request_inference_time_seconds": Histogram(WHOLE),
            "request_prefill_time_seconds": Histogram(WHOLE),
            "request_decode_time_seconds": Histogram(WHOLE),
            "request_prompt_tokens": Histogram(sizes),
            "request_generation_tokens": Histogram(sizes),
            "request_max_num_generation_tokens": Histogram(sizes),
            "request_params_max_tokens": Histogram(sizes),
            "request_params_n": Histogram(CHOICES),
            "iteration_tokens_total": Histogram(STEP),
        }

    def admitted(self, sequence: Sequence) -> None:
        """A sequence was scheduled for the first time: its prompt was looked up."""
        prompt = len(sequence.prompt.tokens)
        self.prefix_queries += prompt
        self.prefix_hits += sequence.cached_tokens
        self.prompt_tokens += prompt
        self.prompt_tokens_cached += sequence.cached_tokens
        covered = sum(1 for span in sequence.prompt.spans if span.offset + span.item.tokens <= sequence.cached_tokens)
        self.encode_items["prefix"] += covered

    def computed(self, chunk: Chunk) -> None:
        """A chunk ran."""
        self.encode_items["local"] += len(chunk.encode)

    def step(self, tokens: int) -> None:
        """A step ran."""
        self.histograms["iteration_tokens_total"].observe(tokens)

    def token(self, sequence: Sequence, now: float) -> None:
        """A token came out."""
        self.generation_tokens += 1
        times = sequence.times
        if times.first_token is None:
            times.first_token = now
            self.histograms["time_to_first_token_seconds"].observe(now - times.arrived)
        elif times.last_token is not None:
            self.histograms["inter_token_latency_seconds"].observe(now - times.last_token)
        times.last_token = now

    def finished(self, sequence: Sequence) -> None:
        """A sequence ended by itself. One whose client went away is counted nowhere, as in vLLM."""
        times = sequence.times
        self.success[sequence.finish_reason or "error"] += 1
        end = times.finished or times.arrived
        started = times.scheduled if times.scheduled is not None else end
        first = times.first_token if times.first_token is not None else end
        observe = {
            "e2e_request_latency_seconds": end - times.arrived,
            "request_queue_time_seconds": started - times.arrived,
            "request_inference_time_seconds": end - started,
            "request_prefill_time_seconds": first - started,
            "request_decode_time_seconds": end - first,
            "request_prompt_tokens": len(sequence.prompt.tokens),
            "request_generation_tokens": sequence.produced,
            "request_max_num_generation_tokens": sequence.produced,
            "request_params_max_tokens": sequence.max_tokens,
        }
        if sequence.produced > 1:
            observe["request_time_per_output_token_seconds"] = (end - first) / (sequence.produced - 1)
        for name, value in observe.items():
            self.histograms[name].observe(value)
