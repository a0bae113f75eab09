"""What an accelerator changes in a pod."""

from components.plan.accelerators import ACCELERATORS, PROVIDER_ENV


def test_gpu() -> None:
    gpu = ACCELERATORS["gpu"]

    assert gpu.labels == {"llm-d.ai/accelerator-variant": "gpu", "llm-d.ai/accelerator-vendor": "nvidia"}
    assert gpu.toleration == {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def test_gke_switches_off_its_tuner() -> None:
    assert PROVIDER_ENV["gke"] == {"NCCL_TUNER_PLUGIN": "none", "NCCL_NET_PLUGIN": ""}
    assert PROVIDER_ENV["base"] == {}
