"""Picks the endpoints with the highest scores.

Among equals the one picked longest ago comes first, so that equal endpoints share evenly; the reference draws lots.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count

from router.framework.control import EndpointListener
from router.framework.endpoint import Endpoint, LiveEndpoint
from router.framework.plugin import Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Picker

TYPE = "max-score-picker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    max_num_of_endpoints: int = 1  # zero or less: 1


class MaxScorePicker(Picker, EndpointListener):
    """Highest score first, `maxNumOfEndpoints` of them."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._most = max(parameters.max_num_of_endpoints, 1)
        self._random = handle.random
        self._draw_lots = handle.compat.reference
        self._turns = count(1)
        self._last_turn: dict[LiveEndpoint, int] = {}  # members only; 0: never picked

    def pick(self, request: InferenceRequest, scores: Mapping[Endpoint, float]) -> tuple[Endpoint, ...]:
        """The best endpoints."""
        if self._draw_lots:
            shuffled = list(scores)
            self._random.shuffle(shuffled)
            return tuple(sorted(shuffled, key=scores.__getitem__, reverse=True)[: self._most])
        last = self._last_turn
        ranked = sorted(scores, key=lambda endpoint: (-scores[endpoint], last.get(endpoint.live, 0)))[: self._most]
        first = ranked[0].live
        if first in last:
            last[first] = next(self._turns)
        return tuple(ranked)

    def endpoint_added(self, endpoint: LiveEndpoint) -> None:
        """A new endpoint has never been picked."""
        self._last_turn[endpoint] = 0

    def endpoint_removed(self, endpoint: LiveEndpoint) -> None:
        """Its turn is forgotten."""
        self._last_turn.pop(endpoint, None)
