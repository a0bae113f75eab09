"""Runs the only profile over data-parallel ranks and sends requests through the pod's first port.

For gateways that cannot address the ranks' ports; others need no handler for them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from router.disaggregation.ports import check_port, through_primary_port
from router.framework.errors import DroppedReason, ErrorCode, RequestError
from router.framework.plugin import Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import ProfileHandler, ProfileResult, SchedulingResult

TYPE = "data-parallel-profile-handler"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    primary_port: int = 8000

    def __post_init__(self) -> None:
        check_port(self.primary_port)


class DataParallelProfileHandler(ProfileHandler):
    """One profile, run once, primary; its target's rank goes into a header."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._port = parameters.primary_port

    def pick_profiles(
        self, request: InferenceRequest, profiles: Sequence[str], results: Mapping[str, ProfileResult | None]
    ) -> Sequence[str]:
        """The profile, unless it ran."""
        return () if results else profiles[:1]

    def process_results(self, request: InferenceRequest, results: Mapping[str, ProfileResult | None]) -> SchedulingResult:
        """Its result at the primary port; RequestError when it failed."""
        for name, chosen in results.items():
            if chosen is not None:
                return SchedulingResult(profiles={name: through_primary_port(request, chosen, self._port)}, primary=name)
        raise RequestError(ErrorCode.ResourceExhausted, "the only scheduling profile failed", DroppedReason.SATURATED)
