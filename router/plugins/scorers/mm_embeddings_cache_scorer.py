"""Prefers endpoints that have encoded the request's pictures, videos or sounds before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from router.framework.attributes.encoder_match import PRODUCER, encoder_match
from router.framework.endpoint import Endpoint
from router.framework.plugin import Consumes, Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Scorer

TYPE = "mm-embeddings-cache-scorer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    producer_name: str = PRODUCER


class MmEmbeddingsCacheScorer(Scorer):
    """The share of the request's media that an endpoint is thought to hold."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._match = encoder_match(parameters.producer_name or PRODUCER)

    def consumes(self) -> Consumes:
        """Encoder matches."""
        return Consumes(required=frozenset({self._match}))

    def score(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Mapping[Endpoint, float]:
        """By size; 0 where nothing is known."""
        matches = ((endpoint, endpoint.read(self._match)) for endpoint in endpoints)
        return {endpoint: match.ratio if match else 0.0 for endpoint, match in matches}
