"""Tells a conformance test which endpoint served its request: copies what the proxy reports into a response header."""

from router.framework.attributes.served_endpoint import served_endpoint
from router.framework.control import ResponseHeaders
from router.framework.plugin import Handle, NoParameters
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult
from router.wire import TEST_SERVED

TYPE = "destination-endpoint-served-verifier"
Parameters = NoParameters
NOT_REPORTED = "fail: the proxy did not report the endpoint"


class DestinationEndpointServedVerifier(ResponseHeaders):
    """The header is set on every response."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)

    async def on_response_headers(self, request: InferenceRequest, result: SchedulingResult, added: dict[str, str]) -> None:
        """The address, or a word of failure."""
        added[TEST_SERVED] = request.read(served_endpoint()) or NOT_REPORTED
