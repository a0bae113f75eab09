"""Sends every request through the prefill stage."""

from router.framework.endpoint import Endpoint
from router.framework.plugin import Handle, NoParameters
from router.framework.request import InferenceRequest
from router.framework.scheduling import Decider

TYPE = "always-disagg-pd-decider"
Parameters = NoParameters


class AlwaysDisaggPdDecider(Decider):
    """Always yes."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)

    def decide(self, request: InferenceRequest, endpoint: Endpoint | None) -> bool:
        """Yes."""
        return True
