"""Sets the headers that tell a routing sidecar where other stages run. The disaggregation handler does so by itself."""

from dataclasses import dataclass

from router.disaggregation.headers import announce_stages
from router.disaggregation.stages import ENCODE, PREFILL
from router.framework.control import PreRequest
from router.framework.plugin import Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult

TYPE = "disagg-headers-handler"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    prefill_profile: str = PREFILL
    encode_profile: str = ENCODE


class DisaggHeadersHandler(PreRequest):
    """Only the headers; which stages run is for the profile handler to say."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._parameters = parameters

    async def before_request(self, request: InferenceRequest, result: SchedulingResult) -> None:
        """Set them, or remove what is there."""
        announce_stages(request, result, prefill=self._parameters.prefill_profile, encode=self._parameters.encode_profile)
