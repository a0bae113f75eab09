"""The table of what can be combined."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.settings.combinations import POSSIBLE, Combination, impossible, nearest

anything = st.builds(
    Combination,
    st.sampled_from(["aggregation", "e-pd", "e-p-d"]),
    st.sampled_from(["gpu", "xpu", "tpu/v7"]),
    st.sampled_from(["base", "gke", "coreweave"]),
    st.sampled_from(["vllm", "sglang"]),
)


@pytest.mark.parametrize("combination", POSSIBLE, ids=str)
def test_possible(combination: Combination) -> None:
    assert impossible(combination) is None


def test_there_are_eleven_possible_combinations() -> None:
    assert len(set(POSSIBLE)) == len(POSSIBLE) == 11


@pytest.mark.parametrize(
    ("wanted", "key", "near", "reason"),
    [
        (("aggregation", "gpu", "coreweave", "vllm"), "provider", ("aggregation", "gpu", "base", "vllm"), "CoreWeave"),
        (("aggregation", "xpu", "gke", "vllm"), "provider", ("aggregation", "xpu", "base", "vllm"), "base clusters only"),
        (("aggregation", "tpu/v7", "base", "vllm"), "provider", ("aggregation", "tpu/v7", "gke", "vllm"), "GKE only"),
        (("e-pd", "tpu/v7", "gke", "vllm"), "topology", ("aggregation", "tpu/v7", "gke", "vllm"), "NVIDIA GPUs only"),
        (("e-p-d", "xpu", "gke", "vllm"), "accelerator", ("e-p-d", "gpu", "gke", "vllm"), "NVIDIA GPUs only"),
        (("aggregation", "gpu", "base", "sglang"), "modelServer", ("aggregation", "gpu", "base", "vllm"), "sglang serves e-pd"),
        (("e-pd", "xpu", "base", "vllm"), "modelServer", ("e-pd", "xpu", "base", "sglang"), "NVIDIA GPUs only"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else None,
)
def test_impossible(wanted: tuple[str, ...], key: str, near: tuple[str, ...], reason: str) -> None:
    found = impossible(Combination(*wanted))

    assert found is not None
    assert found.key == key
    assert found.nearest == Combination(*near)
    assert reason in found.reason


@given(anything)
def test_every_refusal_names_a_way_out(wanted: Combination) -> None:
    found = impossible(wanted)

    assert (found is None) == (wanted in POSSIBLE)
    if found is not None:
        assert found.nearest in POSSIBLE
        assert found.reason
        assert found.nearest == nearest(wanted)


@given(anything)
def test_the_nearest_has_the_fewest_differences(wanted: Combination) -> None:
    def differences(other: Combination) -> int:
        fields = ("topology", "accelerator", "provider", "engine")
        return sum(getattr(wanted, name) != getattr(other, name) for name in fields)

    assert differences(nearest(wanted)) == min(differences(candidate) for candidate in POSSIBLE)
