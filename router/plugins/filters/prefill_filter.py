"""Keeps endpoints that can compute prompts for others."""

from collections.abc import Sequence

from router.disaggregation.roles import PREFILL
from router.framework.endpoint import Endpoint
from router.framework.plugin import Handle, NoParameters
from router.framework.request import InferenceRequest
from router.framework.scheduling import Filter

TYPE = "prefill-filter"
Parameters = NoParameters


class PrefillFilter(Filter):
    """Endpoints labelled for prefill; a pod without the role label is none."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)

    def filter(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """By role."""
        return PREFILL.able(endpoints)
