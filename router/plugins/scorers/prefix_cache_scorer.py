"""Prefers endpoints that hold more of the prompt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from logging import getLogger

from router.framework.attributes.prefix_match import PRODUCER, PrefixMatch, prefix_match
from router.framework.endpoint import Endpoint
from router.framework.errors import ConfigError
from router.framework.plugin import Consumes, Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Scorer

TYPE = "prefix-cache-scorer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    prefix_match_info_producer_name: str = PRODUCER
    match_length_weight: float = 0.0  # 0: the share of the prompt counts, 1: the length of the match does
    match_length_scale_tokens: int = 8192  # match of full length score

    def __post_init__(self) -> None:
        if not 0 <= self.match_length_weight <= 1:
            raise ConfigError(f"{self.match_length_weight} is not between 0 and 1", field="matchLengthWeight")
        if self.match_length_scale_tokens <= 0:
            raise ConfigError(f"{self.match_length_scale_tokens} is not above 0", field="matchLengthScaleTokens")


class PrefixCacheScorer(Scorer):
    """A weighted sum of the matched share and the square of the matched length."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._weight = parameters.match_length_weight
        self._scale = parameters.match_length_scale_tokens
        self._match = prefix_match(parameters.prefix_match_info_producer_name)
        self._log = getLogger(__name__)

    def consumes(self) -> Consumes:
        """Prefix matches."""
        return Consumes(required=frozenset({self._match}))

    def score(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Mapping[Endpoint, float]:
        """The weighted match; 0 where none is known."""
        matches = {endpoint: endpoint.read(self._match) for endpoint in endpoints}
        missing = sum(match is None for match in matches.values())
        if missing:
            self._log.debug("endpoints without prefix match", extra={"fields": {"plugin": self.name, "endpoints": missing}})
        return {endpoint: self._value(match) if match else 0.0 for endpoint, match in matches.items()}

    def _value(self, match: PrefixMatch) -> float:
        length = min(1.0, match.matched_blocks * match.block_size_tokens / self._scale)
        return self._weight * length * length + (1 - self._weight) * match.ratio
