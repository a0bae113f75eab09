"""Keeps the books of what every endpoint is working on: requests, and tokens that still have to be computed.

A decision books its cost at the chosen endpoints at once, so that the next decision sees it; the first byte of the answer releases
the tokens, its end everything.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from router.framework.attributes.key import DataKey
from router.framework.attributes.load import InflightLoad, UncachedTokens, inflight_load, uncached_tokens
from router.framework.attributes.prefix_match import PRODUCER as PREFIX_PRODUCER
from router.framework.attributes.prefix_match import PrefixMatch, prefix_match
from router.framework.attributes.tokenized_prompt import tokenized_prompt
from router.framework.control import DataProducer, EndpointListener, PreRequest, ResponseBody, ResponseProgress
from router.framework.endpoint import Endpoint, LiveEndpoint
from router.framework.errors import ConfigError
from router.framework.plugin import Consumes, Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult

TYPE = "inflight-load-producer"
PREFILL_PROFILE = "prefill"
ENCODE_PROFILE = "encode"
_SHOWN_ENDPOINTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    add_estimated_output_tokens: bool = False
    output_ratio: float = 1.5  # output tokens for each input token
    max_estimated_output_tokens: int | None = None
    prefix_match_info_producer_name: str = PREFIX_PRODUCER
    sync_cross_replica_state: bool = True  # accepted; one replica decides here

    def __post_init__(self) -> None:
        if self.output_ratio < 0:
            raise ConfigError(f"{self.output_ratio} is negative", field="outputRatio")
        if self.max_estimated_output_tokens is not None and self.max_estimated_output_tokens < 0:
            raise ConfigError(f"{self.max_estimated_output_tokens} is negative", field="maxEstimatedOutputTokens")


@dataclass(slots=True)
class _Booking:
    """What one profile of one request added to one endpoint instance, and has not released yet."""

    load: InflightLoad
    live: LiveEndpoint
    profile: str
    requests: int
    tokens: int


class InflightLoadProducer(DataProducer, PreRequest, ResponseBody, EndpointListener):
    """Writes `UncachedTokens` on every candidate and keeps the live `InflightLoad` of every endpoint."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._parameters = parameters
        self._metrics = handle.metrics
        self._early = frozenset({PREFILL_PROFILE} if handle.compat.reference else {PREFILL_PROFILE, ENCODE_PROFILE})
        self._tokens = tokenized_prompt()
        self._match = prefix_match(parameters.prefix_match_info_producer_name)
        self._load = inflight_load(name)
        self._uncached = uncached_tokens(name)
        self._bookings: dict[str, list[_Booking]] = {}
        self._members: dict[LiveEndpoint, InflightLoad] = {}

    def consumes(self) -> Consumes:
        """Tokens; prefix matches where a producer of them exists, which then runs first."""
        return Consumes(required=frozenset({self._tokens}), optional=frozenset({self._match}))

    def produces(self) -> frozenset[DataKey[Any]]:
        """The load of each endpoint and what the request would add."""
        return frozenset({self._load, self._uncached})

    async def produce(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> None:
        """Price the request on every candidate."""
        tokens = request.read(self._tokens)
        length = tokens.length if tokens else 0
        output = self._output_tokens(length, request.max_output_tokens)
        prices: dict[int, UncachedTokens] = {}  # endpoints with the same match share one
        for endpoint in endpoints:
            match = endpoint.read(self._match)
            price = prices.get(id(match))
            if price is None:
                price = prices[id(match)] = UncachedTokens(tokens=uncached(length, match) + output)
            endpoint.write(self._uncached, price)

    async def before_request(self, request: InferenceRequest, result: SchedulingResult) -> None:
        """Book the cost at the first target of every profile."""
        for profile, chosen in result.profiles.items():
            target = chosen.targets[0]
            load = target.live.attributes.setdefault(self._load, InflightLoad())
            cost = target.read(self._uncached)
            booking = _Booking(load, target.live, profile, 0, 0)
            self._bookings.setdefault(request.id, []).append(booking)
            self._change(request, booking, 1, cost.tokens if cost else 0)

    def on_progress(self, request: InferenceRequest, result: SchedulingResult, progress: ResponseProgress) -> dict[str, Any] | None:
        """Release tokens at the first byte, everything at the end."""
        if progress.cause is not None:
            for booking in self._bookings.pop(request.id, ()):
                self._change(request, booking, -booking.requests, -booking.tokens)
        elif progress.first:
            for booking in self._bookings.get(request.id, ()):
                self._release_first(request, booking)
        return None

    def endpoint_added(self, endpoint: LiveEndpoint) -> None:
        """A new instance starts idle."""
        self._members[endpoint] = endpoint.attributes[self._load] = InflightLoad()

    def endpoint_removed(self, endpoint: LiveEndpoint) -> None:
        """Its counters leave with it; what still runs there releases from the old instance."""
        self._members.pop(endpoint, None)
        self._metrics.inflight_gone(_name(endpoint), endpoint.metadata.namespace, self.name)

    def debug_state(self) -> Any:
        """Load of each endpoint."""
        loads = list(self._members.items())
        shown = [
            {"endpoint": live.metadata.id, "requests": load.requests, "tokens": load.tokens} for live, load in loads[:_SHOWN_ENDPOINTS]
        ]
        return {
            "endpoints": shown,
            "totalEndpoints": len(loads),
            "maxEndpoints": _SHOWN_ENDPOINTS,
            "truncated": len(loads) > _SHOWN_ENDPOINTS,
        }

    def _release_first(self, request: InferenceRequest, booking: _Booking) -> None:
        if booking.profile in self._early:
            self._change(request, booking, -booking.requests, -booking.tokens)
        elif not self._parameters.add_estimated_output_tokens:
            self._change(request, booking, 0, -booking.tokens)

    def _change(self, request: InferenceRequest, booking: _Booking, requests: int, tokens: int) -> None:
        """Move the same amount in the booking and on the instance it was made for."""
        if not requests and not tokens:
            return
        booking.requests += requests
        booking.tokens += tokens
        booking.load.requests += requests
        booking.load.tokens += tokens
        if booking.live in self._members:  # an endpoint that left has no gauges any more, or they are its successor's
            flow = (request.fairness_id, request.priority)
            self._metrics.inflight(_name(booking.live), booking.live.metadata.namespace, self.name, flow, (requests, tokens))

    def _output_tokens(self, length: int, client_cap: int | None) -> int:
        """Output tokens to expect, 0 unless they are to be counted."""
        if not self._parameters.add_estimated_output_tokens:
            return 0
        return estimated_output(length, self._parameters.output_ratio, client_cap, self._parameters.max_estimated_output_tokens)


def _name(live: LiveEndpoint) -> str:
    return live.metadata.id.rpartition("/")[2]


def uncached(length: int, match: PrefixMatch | None) -> int:
    """Tokens of a prompt of `length` tokens that an endpoint would have to compute; whole blocks where blocks are known."""
    if match is None or match.block_size_tokens <= 0:
        return length
    size = match.block_size_tokens
    return max(0, match.total_blocks - match.matched_blocks) * size + max(0, length - match.total_blocks * size)


def estimated_output(length: int, ratio: float, client_cap: int | None, operator_cap: int | None) -> int:
    """Output tokens to expect from a prompt; halves round up, a negative cap counts as none."""
    if length <= 0:
        return 0
    caps = [cap for cap in (client_cap, operator_cap) if cap is not None and cap >= 0]
    return min([math.floor(length * ratio + 0.5), *caps])
