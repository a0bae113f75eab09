"""Model servers by name: which metrics say what, and how their samples become fields of `EndpointMetrics`."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from router.exposition.page import Sample, Selector, latest, parse_selector, samples
from router.framework.errors import ConfigError

Read = Callable[[bytes], Mapping[str, Any]]  # a page -> fields of EndpointMetrics; raises UnreadableError


class UnreadableError(Exception):
    """A field that this page does not give; the text says which metric and why."""


def _check(spec: str, field: str) -> None:
    if not spec:
        return
    try:
        parse_selector(spec)
    except ConfigError as error:
        raise error.within(field=field) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomMetric:
    """A metric kept as a number under `attributeKey`."""

    attribute_key: str
    metric_spec: str

    def __post_init__(self) -> None:
        _check(self.metric_spec, "metricSpec")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineConfig:
    """Where one kind of model server says what; an empty spec is not read."""

    name: str
    queued_requests_spec: str = ""
    running_requests_spec: str = ""
    kv_usage_spec: str = ""
    lora_spec: str = ""
    cache_info_spec: str = ""  # an info metric whose labels hold block size and number of blocks
    cache_block_size_label_name: str = "block_size"
    cache_num_blocks_label_name: str = "num_gpu_blocks"
    cache_block_size_spec: str = ""  # or two gauges
    cache_num_blocks_spec: str = ""
    custom_metrics: tuple[CustomMetric, ...] = ()

    def __post_init__(self) -> None:
        _check(self.queued_requests_spec, "queuedRequestsSpec")
        _check(self.running_requests_spec, "runningRequestsSpec")
        _check(self.kv_usage_spec, "kvUsageSpec")
        _check(self.lora_spec, "loraSpec")
        _check(self.cache_info_spec, "cacheInfoSpec")
        _check(self.cache_block_size_spec, "cacheBlockSizeSpec")
        _check(self.cache_num_blocks_spec, "cacheNumBlocksSpec")


BUILT_IN = (
    EngineConfig(
        name="vllm",
        queued_requests_spec="vllm:num_requests_waiting",
        running_requests_spec="vllm:num_requests_running",
        kv_usage_spec="vllm:kv_cache_usage_perc",
        lora_spec="vllm:lora_requests_info",
        cache_info_spec="vllm:cache_config_info",
    ),
    EngineConfig(
        name="sglang",
        queued_requests_spec="sglang:num_queue_reqs",
        running_requests_spec="sglang:num_running_reqs",
        kv_usage_spec="sglang:token_usage",
        cache_info_spec="sglang:cache_config_info",
        cache_block_size_label_name="page_size",
        cache_num_blocks_label_name="num_pages",
    ),
    EngineConfig(
        name="trtllm-serve",
        queued_requests_spec="trtllm_num_requests_waiting",
        running_requests_spec="trtllm_num_requests_running",
        kv_usage_spec="trtllm_kv_cache_utilization",
        cache_block_size_spec="trtllm_kv_cache_tokens_per_block",
        cache_num_blocks_spec="trtllm_kv_cache_max_blocks",
    ),
    EngineConfig(
        name="triton-tensorrt-llm",
        queued_requests_spec="nv_trt_llm_request_metrics{request_type=waiting}",
        running_requests_spec="nv_trt_llm_request_metrics{request_type=scheduled}",
        kv_usage_spec="nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=fraction}",
        cache_block_size_spec="nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=tokens_per}",
        cache_num_blocks_spec="nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=max}",
    ),
    EngineConfig(
        name="triton",
        queued_requests_spec="nv_inference_pending_request_count",
        running_requests_spec="nv_inference_exec_count",
    ),
)


def readers(engine: EngineConfig, *, lora_required: bool) -> tuple[Read, ...]:
    """One reader for each field group that `engine` names; each raises UnreadableError on its own.

    `lora_required`: a page without the adapter metric is an error. Servers leave it out unless they serve adapters.
    """
    numbers = {
        "waiting_requests": (engine.queued_requests_spec, int),
        "running_requests": (engine.running_requests_spec, int),
        "kv_cache_usage": (engine.kv_usage_spec, float),
        "cache_block_size": (engine.cache_block_size_spec, int),
        "cache_blocks": (engine.cache_num_blocks_spec, int),
    }
    found: list[Read] = [partial(_field, field, kind, parse_selector(spec)) for field, (spec, kind) in numbers.items() if spec]
    if engine.lora_spec:
        found.append(partial(_adapters, parse_selector(engine.lora_spec), lora_required))
    if engine.cache_info_spec:
        names = {"cache_block_size": engine.cache_block_size_label_name, "cache_blocks": engine.cache_num_blocks_label_name}
        found.append(partial(_cache_info, parse_selector(engine.cache_info_spec), names))
    return tuple(found)


def number(page: bytes, selector: Selector) -> float:
    """The value of the latest matching sample. Raises UnreadableError."""
    return _finite(_found(latest(page, selector), selector).value, selector)


def _field(field: str, kind: type[int] | type[float], selector: Selector, page: bytes) -> Mapping[str, Any]:
    return {field: kind(number(page, selector))}


def _adapters(selector: Selector, required: bool, page: bytes) -> Mapping[str, Any]:
    """From the series with the largest value: it is the time at which the server wrote it."""
    series = list(samples(page, selector))
    if not series and not required:
        return {}
    newest = max(series, key=lambda sample: _finite(sample.value, selector), default=None)
    labels = _found(newest, selector).labels
    return {
        "running_adapters": _names(labels.get("running_lora_adapters", "")),
        "waiting_adapters": _names(labels.get("waiting_lora_adapters", "")),
        "max_adapters": _whole(labels.get("max_lora", ""), selector, "max_lora"),
    }


def _cache_info(selector: Selector, names: Mapping[str, str], page: bytes) -> Mapping[str, Any]:
    labels = _found(latest(page, selector), selector).labels
    return {field: _whole(labels.get(label, ""), selector, label) for field, label in names.items()}


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(",") if name.strip())


def _found(sample: Sample | None, selector: Selector) -> Sample:
    if sample is None:
        raise UnreadableError(f"{selector} is missing")
    return sample


def _finite(text: str, selector: Selector) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UnreadableError(f"{selector} is not a number")
    return value


def _whole(text: str, selector: Selector, label: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UnreadableError(f"label {label} of {selector} is not a whole number") from None
