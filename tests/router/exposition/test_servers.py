import pytest

from router.exposition.page import parse_selector
from router.exposition.servers import BUILT_IN, CustomMetric, EngineConfig, UnreadableError, number, readers
from router.framework.errors import ConfigError


def engine(name: str) -> EngineConfig:
    return next(engine for engine in BUILT_IN if engine.name == name)


def read(config: EngineConfig, page: bytes, *, lora_required: bool = False) -> tuple[dict[str, object], list[str]]:
    fields: dict[str, object] = {}
    errors: list[str] = []
    for reader in readers(config, lora_required=lora_required):
        try:
            fields.update(reader(page))
        except UnreadableError as error:
            errors.append(str(error))
    return fields, errors


PAGES = {
    "vllm": b"""vllm:num_requests_waiting{model_name="m"} 4.0
vllm:num_requests_running{model_name="m"} 3.0
vllm:kv_cache_usage_perc{model_name="m"} 0.5
vllm:cache_config_info{block_size="16",num_gpu_blocks="5000"} 1.0
""",
    "sglang": b"""sglang:num_queue_reqs 4
sglang:num_running_reqs 3
sglang:token_usage 0.5
sglang:cache_config_info{page_size="16",num_pages="5000"} 1
""",
    "trtllm-serve": b"""trtllm_num_requests_waiting 4
trtllm_num_requests_running 3
trtllm_kv_cache_utilization 0.5
trtllm_kv_cache_tokens_per_block 16
trtllm_kv_cache_max_blocks 5000
""",
    "triton-tensorrt-llm": b"""nv_trt_llm_request_metrics{request_type="waiting"} 4
nv_trt_llm_request_metrics{request_type="scheduled"} 3
nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="fraction"} 0.5
nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="tokens_per"} 16
nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="max"} 5000
""",
}


@pytest.mark.parametrize("name", sorted(PAGES))
def test_each_server_is_read_by_its_own_names(name: str) -> None:
    fields, errors = read(engine(name), PAGES[name])

    assert errors == []
    assert fields == {
        "waiting_requests": 4,
        "running_requests": 3,
        "kv_cache_usage": 0.5,
        "cache_block_size": 16,
        "cache_blocks": 5000,
    }


def test_triton_alone_tells_of_requests_only() -> None:
    fields, errors = read(engine("triton"), b"nv_inference_pending_request_count 2\nnv_inference_exec_count 8\n")

    assert (fields, errors) == ({"waiting_requests": 2, "running_requests": 8}, [])


def test_n05_adapters_come_from_the_labels_of_the_info_metric() -> None:
    page = b'vllm:lora_requests_info{running_lora_adapters="a,b",waiting_lora_adapters="c",max_lora="4"} 1\n'

    fields, _ = read(EngineConfig(name="x", lora_spec="vllm:lora_requests_info"), page)

    assert fields == {"running_adapters": frozenset("ab"), "waiting_adapters": frozenset("c"), "max_adapters": 4}


def test_of_several_adapter_series_the_largest_value_counts() -> None:
    page = b'l{running_lora_adapters="old",max_lora="1"} 100.5\nl{running_lora_adapters="new",max_lora="2"} 100.7\n'

    fields, _ = read(EngineConfig(name="x", lora_spec="l"), page)

    assert fields["running_adapters"] == frozenset({"new"})


def test_n06_block_size_and_blocks_come_from_labels() -> None:
    page = b'vllm:cache_config_info{block_size="16",num_gpu_blocks="5000"} 1\n'

    fields, _ = read(EngineConfig(name="x", cache_info_spec="vllm:cache_config_info"), page)

    assert fields == {"cache_block_size": 16, "cache_blocks": 5000}


def test_a_page_without_adapters_is_no_fault_unless_it_must_have_them() -> None:
    config = EngineConfig(name="x", lora_spec="l")

    assert read(config, b"other 1\n") == ({}, [])
    assert read(config, b"other 1\n", lora_required=True) == ({}, ["l is missing"])


@pytest.mark.parametrize(
    ("page", "text"),
    [
        pytest.param(b"m abc\n", "m is not a number", id="text"),
        pytest.param(b"m NaN\n", "m is not a number", id="nan"),
        pytest.param(b"n 1\n", "m is missing", id="missing"),
    ],
)
def test_what_cannot_be_read_is_said(page: bytes, text: str) -> None:
    with pytest.raises(UnreadableError, match=text):
        number(page, parse_selector("m"))


def test_an_info_label_that_is_no_number_leaves_the_fields() -> None:
    config = EngineConfig(name="x", cache_info_spec="c")

    fields, errors = read(config, b'c{block_size="16",num_gpu_blocks="None"} 1\n')

    assert fields == {}
    assert errors == ["label num_gpu_blocks of c is not a whole number"]


@pytest.mark.parametrize("spec", ["queued_requests_spec", "lora_spec", "cache_num_blocks_spec"])
def test_a_spec_that_is_none_is_refused_with_its_field(spec: str) -> None:
    with pytest.raises(ConfigError, match="Spec"):
        EngineConfig(name="x", **{spec: "m{"})  # type: ignore[arg-type]


def test_a_custom_metric_checks_its_spec() -> None:
    with pytest.raises(ConfigError, match="metricSpec"):
        CustomMetric(attribute_key="a", metric_spec="{")
