"""Keeps endpoints that can answer requests."""

from collections.abc import Sequence

from router.disaggregation.roles import DECODE
from router.framework.endpoint import Endpoint
from router.framework.plugin import Handle, NoParameters
from router.framework.request import InferenceRequest
from router.framework.scheduling import Filter

TYPE = "decode-filter"
Parameters = NoParameters


class DecodeFilter(Filter):
    """Endpoints labelled for decoding, and those without the role label."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)

    def filter(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """By role."""
        return DECODE.able(endpoints)
