"""Sends prompts to endpoints that are set up for their length, which a pod label says as `min-max` tokens.

As a filter it removes endpoints whose range does not hold the prompt, when `enableFiltering` is set.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from router.framework.attributes.tokenized_prompt import tokenized_prompt
from router.framework.endpoint import Endpoint
from router.framework.errors import ConfigError
from router.framework.plugin import Consumes, Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Filter, Scorer

TYPE = "context-length-aware"
_NO_LABEL, _UNREADABLE, _EXACT = 0.5, 0.0, 1.0
_FLOOR = 0.3  # of a range that holds the prompt, and top of one that does not
_WIDTH_TOKENS = 10_000  # a range so wide counts half as a close fit
_DISTANCE_TOKENS = 1000  # a range so far away scores half of the top


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    label: str = "llm-d.ai/context-length-range"
    enable_filtering: bool = False

    def __post_init__(self) -> None:
        if not self.label:
            raise ConfigError("must not be empty", field="label")


class ContextLengthAware(Filter, Scorer):
    """Narrow ranges that hold the prompt score best; then wide ones, no label, near misses."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._label = parameters.label
        self._filtering = parameters.enable_filtering
        self._tokens = tokenized_prompt()

    def consumes(self) -> Consumes:
        """The tokens."""
        return Consumes(required=frozenset({self._tokens}))

    def filter(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """Ranges that hold the prompt, and endpoints without label."""
        if not self._filtering:
            return endpoints
        length = self._length(request)
        return [endpoint for endpoint in endpoints if _holds(endpoint.metadata.labels.get(self._label), length)]

    def score(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Mapping[Endpoint, float]:
        """By how well the range fits."""
        length = self._length(request)
        return {endpoint: _score(endpoint.metadata.labels.get(self._label), length) for endpoint in endpoints}

    def _length(self, request: InferenceRequest) -> int:
        tokens = request.read(self._tokens)
        return tokens.length if tokens else 0


def _holds(label: str | None, length: int) -> bool:
    if label is None:
        return True
    bounds = _bounds(label)
    return bounds is not None and bounds[0] <= length <= bounds[1]


def _score(label: str | None, length: int) -> float:
    if label is None:
        return _NO_LABEL
    bounds = _bounds(label)
    if bounds is None:
        return _UNREADABLE
    low, high = bounds
    if not low <= length <= high:
        distance = low - length if length < low else length - high
        return _FLOOR / (1 + distance / _DISTANCE_TOKENS)
    width = high - low
    if width == 0:
        return _EXACT
    return _FLOOR + (1 - _FLOOR) * (0.7 / (1 + width / _WIDTH_TOKENS) + 0.3 * (high - length) / width)


def _bounds(label: str) -> tuple[int, int] | None:
    """Two whole numbers joined by a dash, the smaller first; None for anything else."""
    parts = [part.strip() for part in label.split("-")]
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() and len(part) < 19 for part in parts):
        return None
    low, high = int(parts[0]), int(parts[1])
    return (low, high) if low <= high else None
