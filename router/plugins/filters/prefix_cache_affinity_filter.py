"""Keeps a request at the endpoints that hold most of its prompt, unless they are too busy to be worth it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from router.framework.attributes.key import DataKey
from router.framework.attributes.latency import PRODUCER as LATENCY_PRODUCER
from router.framework.attributes.latency import latency_prediction
from router.framework.attributes.load import PRODUCER as LOAD_PRODUCER
from router.framework.attributes.load import inflight_load
from router.framework.attributes.prefix_match import PRODUCER as PREFIX_PRODUCER
from router.framework.attributes.prefix_match import prefix_match
from router.framework.endpoint import Endpoint
from router.framework.errors import ConfigError
from router.framework.parameters import spelled
from router.framework.plugin import Consumes, Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Filter

TYPE = "prefix-cache-affinity-filter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    affinity_threshold: float = 0.80  # share of the prompt that makes an endpoint sticky; zero or less: filter off
    exploration_probability: float = 0.0  # share of requests that ignore stickiness
    max_ttft_penalty_ms: float = spelled("maxTTFTPenaltyMs", 18_000.0)  # 0: stickiness at any price
    ttft_source: Literal["prefillThroughput", "latencyPredictor"] = "prefillThroughput"
    peak_prefill_throughput: float = 15_928.0  # tokens a second
    prefix_match_info_producer_name: str = PREFIX_PRODUCER
    in_flight_load_producer_name: str = LOAD_PRODUCER
    latency_prediction_info_producer_name: str = LATENCY_PRODUCER

    def __post_init__(self) -> None:
        if self.affinity_threshold > 1:
            raise ConfigError(f"{self.affinity_threshold} is above 1", field="affinityThreshold")
        if not 0 <= self.exploration_probability <= 1:
            raise ConfigError(f"{self.exploration_probability} is not between 0 and 1", field="explorationProbability")
        if self.max_ttft_penalty_ms < 0:
            raise ConfigError(f"{self.max_ttft_penalty_ms} is negative", field="maxTTFTPenaltyMs")
        if self.peak_prefill_throughput < 0:
            raise ConfigError(f"{self.peak_prefill_throughput} is negative", field="peakPrefillThroughput")
        if self.gated and self.ttft_source == "prefillThroughput" and self.peak_prefill_throughput == 0:
            raise ConfigError("0 cannot price a backlog; set it above 0, or maxTTFTPenaltyMs to 0", field="peakPrefillThroughput")

    @property
    def gated(self) -> bool:
        """Whether a backlog can break stickiness."""
        return self.max_ttft_penalty_ms > 0


class PrefixCacheAffinityFilter(Filter):
    """Sticky endpoints, or all of them when none is sticky or the sticky ones would answer too late."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._parameters = parameters
        self._random = handle.random
        self._match = prefix_match(parameters.prefix_match_info_producer_name)
        self._load = inflight_load(parameters.in_flight_load_producer_name)
        self._latency = latency_prediction(parameters.latency_prediction_info_producer_name)
        self._predicted = parameters.ttft_source == "latencyPredictor"

    def consumes(self) -> Consumes:
        """Prefix matches; while the gate is on, what a time to first token is computed from."""
        required: set[DataKey[Any]] = {self._match}
        if self._parameters.gated:
            required.add(self._latency if self._predicted else self._load)
        return Consumes(required=frozenset(required))

    def filter(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """The sticky endpoints or all."""
        parameters = self._parameters
        if len(endpoints) <= 1 or parameters.affinity_threshold <= 0:
            return endpoints
        if parameters.exploration_probability > 0 and self._random.random() < parameters.exploration_probability:
            return endpoints
        sticky = [endpoint for endpoint in endpoints if self._ratio(endpoint) >= parameters.affinity_threshold]
        if not sticky or len(sticky) == len(endpoints):
            return endpoints
        return endpoints if parameters.gated and self._too_late(sticky, endpoints) else sticky

    def _too_late(self, sticky: Sequence[Endpoint], endpoints: Sequence[Endpoint]) -> bool:
        chosen = set(sticky)
        best = min(self._ttft_ms(endpoint) for endpoint in sticky)
        best_other = min(self._ttft_ms(endpoint) for endpoint in endpoints if endpoint not in chosen)
        return best - best_other > self._parameters.max_ttft_penalty_ms  # infinity minus infinity is no number, and not greater

    def _ratio(self, endpoint: Endpoint) -> float:
        match = endpoint.read(self._match)
        return match.ratio if match else 0.0

    def _ttft_ms(self, endpoint: Endpoint) -> float:
        if self._predicted:
            prediction = endpoint.read(self._latency)
            return prediction.ttft_ms if prediction else math.inf
        load = endpoint.read(self._load)
        return load.tokens / self._parameters.peak_prefill_throughput * 1000 if load else 0.0
