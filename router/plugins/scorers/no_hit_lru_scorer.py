"""Spreads requests that no endpoint has cached anything of, so that new prefixes are built up everywhere.

An endpoint that served such a request longest ago, or never, is preferred.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from router.framework.attributes.key import DataKey
from router.framework.attributes.prefix_match import PRODUCER, prefix_match
from router.framework.control import EndpointListener, PreRequest
from router.framework.endpoint import Endpoint, LiveEndpoint
from router.framework.plugin import Consumes, Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult, Scorer

TYPE = "no-hit-lru-scorer"
DEFAULT_SIZE = 1024
PREFILL_PROFILE = "prefill"
_NEUTRAL = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    lru_size: int = DEFAULT_SIZE  # endpoints remembered; zero or less: the default
    prefix_match_info_producer_name: str = PRODUCER
    prefix_plugin_type: Any = None  # deprecated, without effect
    prefix_plugin_name: Any = None  # deprecated, without effect


class NoHitLruScorer(Scorer, PreRequest, EndpointListener):
    """All alike when any endpoint has a match; else the longer unused, the better."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._size = parameters.lru_size if parameters.lru_size > 0 else DEFAULT_SIZE
        self._match = prefix_match(parameters.prefix_match_info_producer_name)
        self._cold = DataKey("ColdRequest", name, bool)
        self._used: OrderedDict[LiveEndpoint, None] = OrderedDict()  # oldest first

    def consumes(self) -> Consumes:
        """Prefix matches."""
        return Consumes(required=frozenset({self._match}))

    def produces(self) -> frozenset[DataKey[Any]]:
        """Whether the request is cold, for its own later call."""
        return frozenset({self._cold})

    def score(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Mapping[Endpoint, float]:
        """By rank: never used ones in their order, then used ones from the oldest."""
        cold = not any(match.matched_blocks > 0 for endpoint in endpoints if (match := endpoint.read(self._match)))
        request.write(self._cold, cold)
        if not cold:
            return dict.fromkeys(endpoints, _NEUTRAL)
        unused = [endpoint for endpoint in endpoints if endpoint.live not in self._used]
        ages = {live: age for age, live in enumerate(self._used)}
        ranks = {endpoint: rank for rank, endpoint in enumerate(unused)}
        last = max(len(endpoints) - 1, 1)
        return {
            endpoint: max(0.0, 1 - (ranks[endpoint] if endpoint in ranks else len(unused) + ages[endpoint.live]) / last)
            for endpoint in endpoints
        }

    async def before_request(self, request: InferenceRequest, result: SchedulingResult) -> None:
        """What serves a cold request is the most recently used."""
        if not request.read(self._cold):
            return
        prefill = result.profiles.get(PREFILL_PROFILE)
        for target in (result.target, *(prefill.targets[:1] if prefill else ())):
            self._used[target.live] = None
            self._used.move_to_end(target.live)
        while len(self._used) > self._size:
            self._used.popitem(last=False)

    def endpoint_added(self, endpoint: LiveEndpoint) -> None:
        """A new instance was never used."""

    def endpoint_removed(self, endpoint: LiveEndpoint) -> None:
        """It takes no rank any more."""
        self._used.pop(endpoint, None)
