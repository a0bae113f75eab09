"""Tiers with their numbers, from the topology and from the stack."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.plan.topologies import Tier, pod_selector, tiers
from components.settings.complaints import SettingsError
from components.settings.stack import load


def decode(**fields: Any) -> Tier:
    (tier,) = tiers(load({"tiers": {"decode": fields}}))
    return tier


def test_the_aggregated_tier_of_the_reference_hardware() -> None:
    tier = decode()

    assert tier.name == "mm-baseline-nvidia-gpu-vllm-decode"
    assert tier.service_account == "mm-baseline-nvidia-gpu-vllm-sa"
    assert (tier.replicas, tier.tensor_parallel_size, tier.shared_memory) == (8, 2, "20Gi")
    assert (tier.requests, tier.limits) == ({"cpu": "8", "memory": "128Gi"}, {"cpu": "16", "memory": "256Gi"})
    assert tier.role_labels == {**tier.labels, "llm-d.ai/role": "decode"}
    assert tier.labels["llm-d.ai/model"] == "Qwen3-VL-32B-Instruct"


def test_a_stack_overrides_single_numbers() -> None:
    tier = decode(replicas=2, tensorParallelSize=4, sharedMemory="8Gi", resources={"limits": {"memory": "300Gi"}})

    assert (tier.replicas, tier.tensor_parallel_size, tier.shared_memory) == (2, 4, "8Gi")
    assert tier.limits == {"cpu": "16", "memory": "300Gi"}
    assert tier.requests == {"cpu": "8", "memory": "128Gi"}


def test_the_default_budget_is_an_hour() -> None:
    tier = decode()

    assert tier.startup_failures == 120
    assert tier.progress_deadline_seconds == 4000
    assert tier.update_timeout_seconds == 16000


@given(st.integers(60, 86400))
def test_one_budget_drives_probe_deadline_and_timeout(budget: int) -> None:
    tier = decode(startupBudgetSeconds=budget)

    assert budget <= tier.startup_failures * 30 < budget + 30
    assert tier.progress_deadline_seconds >= tier.startup_failures * 30 + 15
    assert tier.update_timeout_seconds >= tier.progress_deadline_seconds


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"sharedMemory": "256Gi"}, "tiers.decode.sharedMemory: 256Gi: shared memory counts against"),
        ({"resources": {"limits": {"memory": "10Gi"}, "requests": {"memory": "5Gi"}}}, "tiers.decode.sharedMemory: 20Gi: "),
        ({"resources": {"limits": {"cpu": "4"}}}, "tiers.decode.resources.requests.cpu: 8: above the limit of 4"),
        (
            {"resources": {"limits": {"nvidia.com/gpu": 4}}},
            "tiers.decode.resources: nvidia.com/gpu: follows from tensorParallelSize, which is 2",
        ),
    ],
    ids=["shared-memory", "shared-memory-default", "limit-below-default-request", "accelerators"],
)
def test_sizes_that_cannot_work_are_refused(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        decode(**fields)

    (line,) = caught.value.lines
    assert line.startswith(f"multimodal-serving:{text}")


def test_pods_are_selected_by_the_guide_label() -> None:
    assert pod_selector(load({})) == {"llm-d.ai/guide": "aggregation"}
