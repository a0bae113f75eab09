"""vLLM's command line and environment."""

from typing import Any

from components.plan import vllm
from components.plan.topologies import tiers
from components.settings.stack import StackSettings, load


def stack(**values: Any) -> StackSettings:
    return load(values)


def args(settings: StackSettings) -> list[str]:
    return vllm.args(settings, tiers(settings)[0])


def env(settings: StackSettings) -> dict[str, Any]:
    return {str(entry["name"]): entry.get("value", entry.get("value_from")) for entry in vllm.env(settings, tiers(settings)[0])}


def test_args_begin_with_the_model_and_end_with_the_stack_s_own() -> None:
    found = args(stack(tiers={"decode": {"extraArgs": ["--max-model-len=8192"]}}))

    assert found == [
        "Qwen/Qwen3-VL-32B-Instruct",
        "--disable-access-log-for-endpoints=/health,/metrics,/v1/models",
        "--tensor-parallel-size=2",
        "--mm-processor-cache-gb",
        "20",
        "--shutdown-timeout=45",
        "--max-model-len=8192",
    ]


def test_the_tensor_parallel_size_follows_the_setting() -> None:
    assert "--tensor-parallel-size=8" in args(stack(tiers={"decode": {"tensorParallelSize": 8}}))


def test_the_token_is_a_reference() -> None:
    assert env(stack())["HF_TOKEN"] == {"secret_key_ref": {"name": "llm-d-hf-token", "key": "HF_TOKEN"}}
    assert env(stack(huggingFace={"existingSecret": "mine"}))["HF_TOKEN"] == {"secret_key_ref": {"name": "mine", "key": "HF_TOKEN"}}


def test_provider_and_stack_add_variables_and_the_stack_wins() -> None:
    found = env(stack(provider="gke", tiers={"decode": {"env": {"NCCL_TUNER_PLUGIN": "own", "A": "b"}}}))

    assert (found["NCCL_TUNER_PLUGIN"], found["NCCL_NET_PLUGIN"], found["A"], found["USER"]) == ("own", "", "b", "llm-d")
