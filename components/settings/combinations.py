"""Combinations that cannot work, refused with the reason and the nearest one that can."""

from dataclasses import dataclass
from typing import Final

from components.settings.models import GEMMA_4_31B, KIMI_VL_A3B, QWEN3_VL_32B


@dataclass(frozen=True, slots=True, order=True)
class Combination:
    """What decides which model servers are deployed."""

    topology: str
    accelerator: str
    provider: str
    engine: str

    def __str__(self) -> str:
        return f"{self.topology} · {self.accelerator} · {self.provider} · {self.engine}"


@dataclass(frozen=True, slots=True)
class Impossible:
    """Why a combination cannot work: the setting to change, the reason, the nearest combination that works."""

    key: str
    reason: str
    nearest: Combination


POSSIBLE: Final = (
    *(Combination("aggregation", "gpu", provider, "vllm") for provider in ("base", "gke")),
    Combination("aggregation", "xpu", "base", "vllm"),
    Combination("aggregation", "tpu/v7", "gke", "vllm"),
    *(Combination(topology, "gpu", provider, "vllm") for topology in ("e-pd", "e-p-d") for provider in ("base", "gke", "coreweave")),
    Combination("e-pd", "xpu", "base", "sglang"),  # encode on xpu, prefill and decode on gpu
)
MODELS: Final = {
    "vllm": (QWEN3_VL_32B, GEMMA_4_31B),
    "sglang": (KIMI_VL_A3B,),
}
_KEYS = {"topology": "topology", "accelerator": "accelerator", "provider": "provider", "engine": "modelServer"}
# Where several fields could be changed, the one an owner of a cluster gives up first comes first.
_GIVEN_UP_FIRST = ("provider", "engine", "topology", "accelerator")


def nearest(wanted: Combination) -> Combination:
    """The possible combination with the fewest differences; ties by what is easiest to change, then by the table's order."""

    def distance(candidate: Combination) -> tuple[int, tuple[bool, ...]]:
        changed = tuple(getattr(candidate, name) != getattr(wanted, name) for name in reversed(_GIVEN_UP_FIRST))
        return sum(changed), changed

    return min(POSSIBLE, key=distance)


def impossible(wanted: Combination) -> Impossible | None:
    """The reason against a combination, or None where it can work."""
    if wanted in POSSIBLE:
        return None
    near = nearest(wanted)
    changed = next(name for name in _GIVEN_UP_FIRST if getattr(near, name) != getattr(wanted, name))
    return Impossible(key=_KEYS[changed], reason=_reason(wanted), nearest=near)


def _reason(wanted: Combination) -> str:
    reasons = (
        (wanted.engine == "sglang", "sglang serves e-pd on base only, with encode on xpu and the rest on gpu"),
        (
            wanted.topology != "aggregation" and wanted.accelerator != "gpu",
            f"the encoder's and the cache's transfers of {wanted.topology} run between NVIDIA GPUs only",
        ),
        (wanted.accelerator == "tpu/v7", "TPU v7 exists on GKE only"),
        (wanted.accelerator == "xpu", "Intel XPUs are served on base clusters only, through their resource driver"),
        (wanted.provider == "coreweave", "aggregated serving has no CoreWeave variant: nothing in it needs RDMA"),
    )
    return next(text for applies, text in reasons if applies)
