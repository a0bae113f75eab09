"""Lets a test say where its request goes: the header `test-epp-endpoint-selection` lists addresses.

For conformance tests only: with it configured, a request without the header goes nowhere.
"""

from collections.abc import Sequence

from router.framework.endpoint import Endpoint
from router.framework.plugin import Handle, NoParameters
from router.framework.request import InferenceRequest
from router.framework.scheduling import Filter
from router.wire import TEST_SELECTION

TYPE = "header-based-testing-filter"
Parameters = NoParameters


class HeaderBasedTestingFilter(Filter):
    """Keeps what the header lists, in the header's order."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)

    def filter(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """By `ip` or `ip:port`; each endpoint once."""
        wanted = (item.strip() for item in request.headers.get(TEST_SELECTION, "").split(","))
        return list(dict.fromkeys(endpoint for item in wanted for endpoint in endpoints if item and _named(endpoint, item)))


def _named(endpoint: Endpoint, item: str) -> bool:
    return item in {endpoint.metadata.address, f"[{endpoint.metadata.address}]", endpoint.metadata.host_port}
