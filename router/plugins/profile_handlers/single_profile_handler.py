"""Runs the only profile; its choice is where the request goes."""

from collections.abc import Mapping, Sequence

from router.framework.errors import DroppedReason, ErrorCode, RequestError
from router.framework.plugin import Handle, NoParameters
from router.framework.request import InferenceRequest
from router.framework.scheduling import ProfileHandler, ProfileResult, SchedulingResult

TYPE = "single-profile-handler"
Parameters = NoParameters


class SingleProfileHandler(ProfileHandler):
    """One profile, run once, primary."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)

    def pick_profiles(
        self, request: InferenceRequest, profiles: Sequence[str], results: Mapping[str, ProfileResult | None]
    ) -> Sequence[str]:
        """The profile, unless it ran."""
        return () if results else profiles[:1]

    def process_results(self, request: InferenceRequest, results: Mapping[str, ProfileResult | None]) -> SchedulingResult:
        """Its result; RequestError when it failed."""
        for name, result in results.items():
            if result is not None:
                return SchedulingResult(profiles={name: result}, primary=name)
        raise RequestError(ErrorCode.ResourceExhausted, "the only scheduling profile failed", DroppedReason.SATURATED)
