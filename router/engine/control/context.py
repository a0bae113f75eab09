"""What is known of one request while it is handled."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from router.framework.parsing import Payload
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult


@dataclass(slots=True, kw_only=True, eq=False)
class RequestContext:
    """Filled step by step by the director; the exchange reads what became of it."""

    id: str  # unique in this process
    external_id: str  # x-request-id
    headers: dict[str, str]  # lower-case names; plugins write into it
    payload: Payload
    size_bytes: int
    received_at: float  # clock seconds
    subset: Sequence[object] | None  # the proxy's restriction of the candidates; None: none
    target_model: str = ""
    body: bytes | None = None  # set when the body that goes on is not the one that arrived
    request: InferenceRequest | None = field(default=None)
    result: SchedulingResult | None = field(default=None)  # set before anything is booked on it

    def header(self, names: Iterable[str]) -> str:
        """The first non-empty header under `names`, newest spelling first; empty when there is none."""
        return next((value for name in names if (value := self.headers.get(name))), "")
