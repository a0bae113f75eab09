"""The order of stages: which profile runs next, given what ran."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from router.framework.attributes.peer_endpoint import peer_endpoint
from router.framework.endpoint import Endpoint
from router.framework.errors import DroppedReason, ErrorCode, RequestError
from router.framework.request import InferenceRequest
from router.framework.scheduling import Decider, ProfileResult, SchedulingResult

DECODE, PREFILL, ENCODE = "decode", "prefill", "encode"

Results = Mapping[str, ProfileResult | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePlan:
    """Names of the profiles of each stage, and who decides on the optional ones. A stage without decider never runs."""

    decode: str = DECODE
    prefill: str = PREFILL
    encode: str = ENCODE
    prefill_decider: Decider | None = None
    encode_decider: Decider | None = None
    prefill_first: bool = False  # prefill then runs whenever its profile exists

    def next(self, request: InferenceRequest, profiles: Sequence[str], results: Results) -> Sequence[str]:
        """Profiles to run now; none: done."""
        return self._after_prefill(request, profiles, results) if self.prefill_first else self._after_decode(request, profiles, results)

    def settle(self, results: Results) -> SchedulingResult:
        """What ran, with decode as primary. Raises RequestError when that failed."""
        if results.get(self.decode) is None:
            raise RequestError(ErrorCode.ResourceExhausted, "failed to find available decode workers", DroppedReason.SATURATED)
        return SchedulingResult(profiles={name: result for name, result in results.items() if result is not None}, primary=self.decode)

    def decision(self, result: SchedulingResult) -> str:
        """The stages of a result, as metrics name them."""
        stages = [stage for stage, name in ((ENCODE, self.encode), (PREFILL, self.prefill)) if name in result.profiles]
        return "-".join([*stages, DECODE]) if stages else "decode-only"

    def failed(self, results: Results) -> list[str]:
        """Optional stages that ran and found no endpoint."""
        return [name for name in (self.encode, self.prefill) if name in results and results[name] is None]

    def _after_decode(self, request: InferenceRequest, profiles: Sequence[str], results: Results) -> Sequence[str]:
        if self.decode not in results:
            return (self.decode,)
        decoding = results[self.decode]
        if decoding is None or self.prefill in results:
            return ()
        target = decoding.targets[0]
        request.write(peer_endpoint(), target)
        if self.encode not in results and self._wanted(self.encode, self.encode_decider, profiles, request, target):
            return (self.encode,)
        return (self.prefill,) if self._wanted(self.prefill, self.prefill_decider, profiles, request, target) else ()

    def _after_prefill(self, request: InferenceRequest, profiles: Sequence[str], results: Results) -> Sequence[str]:
        if self.decode in results:
            return ()
        if self.prefill in profiles and self.prefill not in results:
            return (self.prefill,)
        if self.encode not in results and self._wanted(self.encode, self.encode_decider, profiles, request, None):
            return (self.encode,)
        return (self.decode,)

    def _wanted(
        self, name: str, decider: Decider | None, profiles: Sequence[str], request: InferenceRequest, target: Endpoint | None
    ) -> bool:
        return name in profiles and decider is not None and decider.decide(request, target)
