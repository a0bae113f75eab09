"""Prefers the endpoint that served a session before."""

from collections.abc import Mapping, Sequence
from typing import Any

from router.framework.attributes.key import DataKey
from router.framework.control import PreRequest, ResponseHeaders
from router.framework.endpoint import Endpoint
from router.framework.plugin import Consumes, Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult, Scorer
from router.sessions.affinity import affinity
from router.sessions.parameters import AffinityParameters

TYPE = "session-affinity-scorer"
Parameters = AffinityParameters


class SessionAffinityScorer(Scorer, PreRequest, ResponseHeaders):
    """1 for the session's endpoint, 0 for the others."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._affinity = affinity(parameters, name, handle.clock)

    def consumes(self) -> Consumes:
        """Attributes that name the session."""
        return Consumes(required=self._affinity.consumes())

    def produces(self) -> frozenset[DataKey[Any]]:
        """What it notes for its own later calls."""
        return self._affinity.produces()

    def score(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Mapping[Endpoint, float]:
        """All 0 for a request without session."""
        bound = self._affinity.bound(request, endpoints)
        return {endpoint: float(endpoint is bound) for endpoint in endpoints}

    async def before_request(self, request: InferenceRequest, result: SchedulingResult) -> None:
        """Remember where the session goes."""
        self._affinity.settle(request, result)

    async def on_response_headers(self, request: InferenceRequest, result: SchedulingResult, added: dict[str, str]) -> None:
        """Tell the client where its session is."""
        added.update(self._affinity.answer(result))
