"""Prefers endpoints with more free KV cache."""

from collections.abc import Mapping, Sequence

from router.framework.endpoint import Endpoint
from router.framework.plugin import Handle, NoParameters
from router.framework.request import InferenceRequest
from router.framework.scheduling import Scorer

TYPE = "kv-cache-utilization-scorer"
Parameters = NoParameters


class KvCacheUtilizationScorer(Scorer):
    """The free share of the KV cache, as last scraped."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)

    def score(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Mapping[Endpoint, float]:
        """1 minus usage."""
        return {endpoint: 1 - endpoint.metrics.kv_cache_usage for endpoint in endpoints}
