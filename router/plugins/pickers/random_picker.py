"""Picks endpoints at random, whatever their scores."""

from collections.abc import Mapping
from dataclasses import dataclass

from router.framework.endpoint import Endpoint
from router.framework.plugin import Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Picker

TYPE = "random-picker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    max_num_of_endpoints: int = 1  # zero or less: 1


class RandomPicker(Picker):
    """A uniform draw without replacement."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._most = max(parameters.max_num_of_endpoints, 1)
        self._random = handle.random

    def pick(self, request: InferenceRequest, scores: Mapping[Endpoint, float]) -> tuple[Endpoint, ...]:
        """Any endpoints."""
        return tuple(self._random.sample(list(scores), min(self._most, len(scores))))
