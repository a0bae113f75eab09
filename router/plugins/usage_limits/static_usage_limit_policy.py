"""The same saturation limit for every priority band. Accepted in configurations; queueing is not built yet."""

from dataclasses import dataclass

from router.framework.errors import ConfigError
from router.framework.flow import UsageLimitPolicy
from router.framework.plugin import Handle

TYPE = "static-usage-limit-policy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    threshold: float = 1.0

    def __post_init__(self) -> None:
        if self.threshold < 0:
            raise ConfigError(f"{self.threshold} is negative", field="threshold")


class StaticUsageLimitPolicy(UsageLimitPolicy):
    """Every band stops at `threshold`."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self.threshold = parameters.threshold
