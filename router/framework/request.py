"""The request as the scheduler sees it: small, serialisable, without the body."""

from dataclasses import dataclass, field
from typing import Any, TypeVar

from router.framework.attributes.key import DataKey

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceRequest:
    """One request. Frozen but for two dictionaries that plugins write: `headers` and, through `write`, attributes."""

    id: str  # unique in this process; state is keyed by it, never by the client's header
    external_id: str  # x-request-id, for logs and traces
    incoming_model: str
    target_model: str
    fairness_id: str
    priority: int
    stream: bool
    max_output_tokens: int | None
    size_bytes: int
    received_at: float  # clock seconds
    headers: dict[str, str] = field(default_factory=dict[str, str])  # lower-case names; what plugins add is sent on
    attributes: dict[DataKey[Any], Any] = field(default_factory=dict[DataKey[Any], Any])

    def read(self, key: DataKey[T]) -> T | None:
        """The request attribute under `key`, or None."""
        return self.attributes.get(key)

    def write(self, key: DataKey[T], value: T) -> None:
        """Store a request attribute."""
        self.attributes[key] = value
