"""Picks endpoints at random, in proportion to their scores."""

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from router.framework.endpoint import Endpoint
from router.framework.plugin import Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Picker

TYPE = "weighted-random-picker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    max_num_of_endpoints: int = 1  # zero or less: 1


class WeightedRandomPicker(Picker):
    """A draw without replacement, weighted by score; endpoints that score 0 come last, in random order."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._most = max(parameters.max_num_of_endpoints, 1)
        self._random = handle.random

    def pick(self, request: InferenceRequest, scores: Mapping[Endpoint, float]) -> tuple[Endpoint, ...]:
        """Weighted draws, best first."""
        keys = {endpoint: self._key(score) for endpoint, score in scores.items()}
        shuffled = list(scores)
        self._random.shuffle(shuffled)
        return tuple(sorted(shuffled, key=keys.__getitem__, reverse=True)[: self._most])

    def _key(self, score: float) -> float:
        """The logarithm of U^(1/score): the same order, without vanishing for small scores."""
        return math.log(max(self._random.random(), sys.float_info.min)) / score if score > 0 else -math.inf
