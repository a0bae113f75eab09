"""What an accelerator changes in a pod: labels, the resource it asks for, the taint of its nodes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pulumi_kubernetes.core.v1 import TolerationArgsDict


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """One kind of accelerator."""

    name: str  # in names of objects
    variant: str
    vendor: str
    resource: str
    image: str

    @property
    def labels(self) -> dict[str, str]:
        """Labels of every object of a tier on this accelerator."""
        return {"llm-d.ai/accelerator-variant": self.variant, "llm-d.ai/accelerator-vendor": self.vendor}

    @property
    def toleration(self) -> "TolerationArgsDict":
        """Accelerator nodes are tainted with their resource's name by the programs that create them, ours included."""
        return {"key": self.resource, "operator": "Exists", "effect": "NoSchedule"}


ACCELERATORS: Final = {
    "gpu": Accelerator(
        name="nvidia-gpu",
        variant="gpu",
        vendor="nvidia",
        resource="nvidia.com/gpu",
        image="docker.io/vllm/vllm-openai:v0.27.1",
    )
}
# Without these two NCCL loads GKE's tuner, which is made for other networks than these nodes have.
PROVIDER_ENV: Final[dict[str, dict[str, str]]] = {"base": {}, "gke": {"NCCL_TUNER_PLUGIN": "none", "NCCL_NET_PLUGIN": ""}}
