"""The names and types on the metrics page, as dashboards of the reference query them; their labels and buckets are unit tests."""

import re
import urllib.request
from pathlib import Path

import pytest

from tests.support.engine_process import engine, write_configuration

NAMES = {
    "counter": """
        request_total inference_objective_request_total request_error_total inference_objective_request_error_total
        scheduler_attempts_total inference_extension_scheduler_attempts_total
        disagg_decision_total llm_d_inference_scheduler_disagg_decision_total
        pd_decision_total llm_d_inference_scheduler_pd_decision_total encoder_cache_queries_total encoder_cache_hits_total
        datalayer_poll_errors_total llm_d_inference_scheduler_datalayer_poll_errors_total
        datalayer_extract_errors_total llm_d_inference_scheduler_datalayer_extract_errors_total extproc_streams_total""",
    "gauge": """
        request_running inference_objective_running_requests
        average_kv_cache_utilization inference_pool_average_kv_cache_utilization
        average_queue_size inference_pool_average_queue_size average_running_requests inference_pool_average_running_requests
        std_dev_kv_cache_utilization std_dev_queue_size std_dev_running_requests ready_endpoints inference_pool_ready_pods
        per_endpoint_queue_size inference_pool_per_pod_queue_size info inference_extension_info extproc_streams_inflight
        prefix_indexer_size inference_extension_prefix_indexer_size inflight_requests inflight_tokens""",
    "histogram": """
        request_duration_seconds inference_objective_request_duration_seconds request_size_bytes inference_objective_request_sizes
        response_size_bytes inference_objective_response_sizes request_input_tokens inference_objective_input_tokens
        request_output_tokens inference_objective_output_tokens request_cached_tokens inference_objective_prompt_cached_tokens
        request_ntpot_seconds inference_objective_normalized_time_per_output_token_seconds request_ttft_seconds
        request_streaming_tpot_seconds request_streaming_itl_seconds request_processing_duration_seconds
        response_processing_duration_seconds scheduler_e2e_duration_seconds inference_extension_scheduler_e2e_duration_seconds
        plugin_duration_seconds inference_extension_plugin_duration_seconds extproc_stream_duration_seconds
        encoder_cache_hit_ratio prefix_indexer_hit_ratio inference_extension_prefix_indexer_hit_ratio
        prefix_indexer_hit_bytes inference_extension_prefix_indexer_hit_bytes""",
}
OLDER = re.compile("inference_|llm_d_")
TYPE = re.compile(r"^# TYPE (\S+) (\S+)$", re.MULTILINE)


@pytest.mark.parametrize("kind", sorted(NAMES))
def test_the_page_has_the_names_of_the_reference(tmp_path: Path, kind: str) -> None:
    wanted = {name if OLDER.match(name) else f"llm_d_epp_{name}" for name in NAMES[kind].split()}
    arguments = (f"--config-file={write_configuration(tmp_path, {'a': 1})}", "--secure-serving=false", "--enable-grpc-stream-metrics")

    with engine(*arguments) as running, urllib.request.urlopen(f"http://127.0.0.1:{running.ports['metrics']}/metrics") as answer:
        types: dict[str, str] = dict(TYPE.findall(answer.read().decode()))

    assert {name: types.get(name) for name in wanted} == dict.fromkeys(wanted, kind)
