"""vLLM's command line and environment."""

from typing import TYPE_CHECKING, Final

from components.plan.accelerators import PROVIDER_ENV
from components.plan.names import HF_TOKEN_KEY, token_secret
from components.plan.topologies import Tier
from components.settings.stack import StackSettings

if TYPE_CHECKING:
    from pulumi_kubernetes.core.v1 import EnvVarArgsDict

COMMAND: Final = ("vllm", "serve")
PROCESSOR_CACHE_GB: Final = 20
SILENT_PATHS: Final = ("/health", "/metrics", "/v1/models")  # probed and scraped all the time
DRAIN_SECONDS: Final = 45  # running requests may take so long after SIGTERM


def args(settings: StackSettings, tier: Tier) -> list[str]:
    """Arguments after `vllm serve`: the model first, the stack's own last so that they win."""
    return [
        settings.model.name,
        f"--disable-access-log-for-endpoints={','.join(SILENT_PATHS)}",
        f"--tensor-parallel-size={tier.tensor_parallel_size}",
        "--mm-processor-cache-gb",
        str(PROCESSOR_CACHE_GB),
        f"--shutdown-timeout={DRAIN_SECONDS}",
        *tier.settings.extra_args,
    ]


def env(settings: StackSettings, tier: Tier) -> "list[EnvVarArgsDict]":
    """The token by reference, a user name for images without one, what provider and stack add."""
    token: EnvVarArgsDict = {
        "name": HF_TOKEN_KEY,
        "value_from": {"secret_key_ref": {"name": token_secret(settings), "key": HF_TOKEN_KEY}},
    }
    # The image's user has no entry in its passwd file, and the compile cache asks for the name.
    plain = {"USER": "llm-d", **PROVIDER_ENV[settings.provider], **tier.settings.env}
    return [token, *({"name": name, "value": value} for name, value in plain.items())]
