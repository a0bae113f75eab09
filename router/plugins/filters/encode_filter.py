"""Keeps endpoints that can run the vision encoder alone."""

from collections.abc import Sequence

from router.disaggregation.roles import ENCODE
from router.framework.endpoint import Endpoint
from router.framework.plugin import Handle, NoParameters
from router.framework.request import InferenceRequest
from router.framework.scheduling import Filter

TYPE = "encode-filter"
Parameters = NoParameters


class EncodeFilter(Filter):
    """Endpoints labelled for encoding; a pod without the role label is none."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)

    def filter(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """By role."""
        return ENCODE.able(endpoints)
