"""Admission without queues: sheddable requests are dropped while the pool is saturated, all others pass."""

from collections.abc import Callable, Sequence
from typing import Protocol

from router.framework.endpoint import Endpoint
from router.framework.errors import DroppedReason, ErrorCode, RequestError
from router.framework.flow import SaturationDetector
from router.framework.request import InferenceRequest

SATURATED = 1.0


class Admission(Protocol):
    """Holds a request until it may go on."""

    async def wait(self, request: InferenceRequest, candidates: Callable[[], Sequence[Endpoint]]) -> None:
        """Return to let it pass, raise RequestError to refuse it; `candidates` looks at the pool as it is when called."""
        ...


class ShedWhenSaturated:
    """The admission of a configuration without the `flowControl` gate."""

    def __init__(self, detector: SaturationDetector) -> None:
        self._detector = detector

    async def wait(self, request: InferenceRequest, candidates: Callable[[], Sequence[Endpoint]]) -> None:
        """Refuse a request of negative priority while saturation is 1 or more."""
        if request.priority < 0 and self._detector.saturation(candidates()) >= SATURATED:
            raise RequestError(ErrorCode.ResourceExhausted, "system saturated, sheddable request dropped", DroppedReason.SATURATED)
