from typing import Any

import pytest

from router.framework.attributes.key import DataKey
from router.framework.endpoint import EndpointMetadata, LiveEndpoint
from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.plugins.extractors.core_metrics_extractor import ENGINE_LABEL, LEGACY_ENGINE_LABEL, CoreMetricsExtractor, Parameters
from tests.support.engine import REFERENCE, FakeClock, make_handle


def endpoint(**labels: str) -> LiveEndpoint:
    return LiveEndpoint(metadata=EndpointMetadata(id="d/a", name="a", namespace="d", address="10.0.0.1", port=8000, labels=labels))


def extractor(clock: FakeClock | None = None, **parameters: Any) -> CoreMetricsExtractor:
    return CoreMetricsExtractor("core-metrics-extractor", decode(Parameters, parameters), make_handle(clock=clock))


SGLANG = b"sglang:num_queue_reqs 5\nsglang:num_running_reqs 6\nsglang:token_usage 0.25\n"
VLLM = b"vllm:num_requests_waiting 1\nvllm:num_requests_running 2\nvllm:kv_cache_usage_perc 0.75\n"


def test_n07_the_pod_label_names_the_server() -> None:
    pod = endpoint(**{ENGINE_LABEL: "sglang"})

    extractor().extract(SGLANG + VLLM, pod)

    assert pod.metrics.waiting_requests == 5


def test_the_legacy_label_is_the_fallback() -> None:
    pod = endpoint(**{LEGACY_ENGINE_LABEL: "sglang"})

    extractor().extract(SGLANG + VLLM, pod)

    assert pod.metrics.waiting_requests == 5


@pytest.mark.parametrize("labels", [{ENGINE_LABEL: "foo"}, {}], ids=["n08_unknown", "n08_missing"])
def test_n08_an_unknown_server_is_read_as_the_default_one(labels: dict[str, str]) -> None:
    pod = endpoint(**labels)

    extractor().extract(SGLANG + VLLM, pod)

    assert pod.metrics.waiting_requests == 1


def test_n09_what_is_there_is_taken_over_and_what_is_missing_is_said() -> None:
    pod = endpoint()
    clock = FakeClock(12.5)

    errors = extractor(clock).extract(
        b'vllm:num_requests_running 3\nvllm:kv_cache_usage_perc 0\nvllm:cache_config_info{block_size="16",num_gpu_blocks="9"} 1\n', pod
    )

    assert errors == ("vllm:num_requests_waiting is missing",)
    assert pod.metrics.running_requests == 3
    assert pod.metrics.updated_at == 12.5


def test_a_field_keeps_its_value_when_a_page_lacks_it() -> None:
    pod = endpoint()
    plugin = extractor()
    plugin.extract(VLLM, pod)

    plugin.extract(b"vllm:num_requests_running 9\n", pod)

    assert (pod.metrics.waiting_requests, pod.metrics.running_requests) == (1, 9)


def test_a_page_that_brings_nothing_leaves_the_time() -> None:
    pod = endpoint()

    extractor().extract(b"nothing 1\n", pod)

    assert pod.metrics.updated_at is None


def test_a_page_without_adapters_counts_as_a_fault_where_the_reference_is_wanted() -> None:
    plugin = CoreMetricsExtractor("x", Parameters(), make_handle(compat=REFERENCE))

    assert "vllm:lora_requests_info is missing" in plugin.extract(VLLM, endpoint())


def test_custom_metrics_become_attributes() -> None:
    configured = {"name": "vllm", "customMetrics": [{"attributeKey": "Temperature", "metricSpec": "gpu_temperature{gpu=0}"}]}
    plugin = extractor(engineConfigs=[configured])
    pod = endpoint()

    plugin.extract(b'gpu_temperature{gpu="0"} 61.5\n', pod)

    key = DataKey("Temperature", "core-metrics-extractor", float)
    assert pod.attributes[key] == 61.5
    assert plugin.produces() == {key}


def test_a_configured_engine_replaces_the_built_in_one_of_its_name() -> None:
    plugin = extractor(engineConfigs=[{"name": "vllm", "queuedRequestsSpec": "my_queue"}])
    pod = endpoint()

    assert plugin.extract(b"my_queue 8\nvllm:num_requests_waiting 1\n", pod) == ()
    assert pod.metrics.waiting_requests == 8


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        pytest.param({"defaultEngine": "vlm"}, 'did you mean "vllm"', id="unknown-default"),
        pytest.param({"engineConfigs": [{"name": "default"}]}, "reserved", id="reserved-name"),
        pytest.param({"engineConfigs": [{"name": "a"}, {"name": "a"}]}, "given twice", id="twice"),
        pytest.param({"engineConfigs": [{"name": "a", "kvUsageSpec": "m{"}]}, "kvUsageSpec", id="bad-spec"),
        pytest.param({"engineLabel": "x"}, "unknown", id="unknown-parameter"),
    ],
)
def test_parameters_that_cannot_work_are_refused(parameters: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        decode(Parameters, parameters)
