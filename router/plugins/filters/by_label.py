"""Keeps endpoints with one of some values of a pod label. Older form of the label selector filter."""

from collections.abc import Sequence
from dataclasses import dataclass

from router.framework.endpoint import Endpoint
from router.framework.errors import ConfigError
from router.framework.plugin import Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Filter

TYPE = "by-label"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    label: str
    valid_values: tuple[str, ...] = ()
    allows_no_label: bool = False

    def __post_init__(self) -> None:
        if not self.label:
            raise ConfigError("must not be empty", field="label")
        if not self.valid_values and not self.allows_no_label:
            raise ConfigError("without a valid value and allowsNoLabel no endpoint could pass", field="validValues")


class ByLabel(Filter):
    """A missing label passes with `allowsNoLabel`."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._label = parameters.label
        self._values = frozenset(parameters.valid_values)
        self._unlabelled = parameters.allows_no_label

    def filter(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """By the label's value."""
        return [endpoint for endpoint in endpoints if self._passes(endpoint.metadata.labels.get(self._label))]

    def _passes(self, value: str | None) -> bool:
        return self._unlabelled if value is None else value in self._values
