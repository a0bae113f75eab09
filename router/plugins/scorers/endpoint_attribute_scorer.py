"""Prefers endpoints on which a number, such as a metric that an extractor reads, is low or high."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from router.framework.attributes.scalar import ScalarAttribute
from router.framework.endpoint import Endpoint
from router.framework.errors import ConfigError
from router.framework.plugin import Consumes, Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Scorer

TYPE = "endpoint-attribute-scorer"


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedRange:
    """Values at or beyond its ends score 0 or 1."""

    min: float
    max: float

    def __post_init__(self) -> None:
        if self.min >= self.max:
            raise ConfigError(f"{self.min} is not below max, {self.max}", field="min")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveRange:
    """From the lowest to the highest value among the candidates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalization:
    """The range; adaptive unless a fixed one is given."""

    fixed_range: FixedRange | None = None
    adaptive_range: AdaptiveRange | None = None

    def __post_init__(self) -> None:
        if self.fixed_range and self.adaptive_range:
            raise ConfigError("fixedRange and adaptiveRange exclude each other")


@dataclass(frozen=True, slots=True, kw_only=True)
class Algorithm:
    """The direction and the range."""

    type: Literal["linear_lower_is_better", "linear_higher_is_better"]
    normalization: Normalization = field(default_factory=Normalization)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    attribute_key: str
    algorithm: Algorithm
    producer: str | None = None  # of the attribute; omitted: core-metrics-extractor; empty: any

    def __post_init__(self) -> None:
        if not self.attribute_key:
            raise ConfigError("must not be empty", field="attributeKey")


class EndpointAttributeScorer(Scorer):
    """Linear in the range; 0 where the number is missing, 1 where all are equal."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._attribute = ScalarAttribute(parameters.attribute_key, parameters.producer)
        self._lower = parameters.algorithm.type == "linear_lower_is_better"
        self._range = parameters.algorithm.normalization.fixed_range

    def consumes(self) -> Consumes:
        """The attribute."""
        return Consumes(required=self._attribute.required)

    def score(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Mapping[Endpoint, float]:
        """The place of each endpoint's number in the range."""
        found = {endpoint: self._attribute.read(endpoint) for endpoint in endpoints}
        known = [value for value in found.values() if value is not None and math.isfinite(value)]
        low, high = (self._range.min, self._range.max) if self._range else (min(known, default=0.0), max(known, default=0.0))
        return {endpoint: self._place(value, low, high) for endpoint, value in found.items()}

    def _place(self, value: float | None, low: float, high: float) -> float:
        if value is None or math.isnan(value):
            return 0.0
        if low == high:
            return 1.0
        place = min(max((value - low) / (high - low), 0.0), 1.0)
        return 1 - place if self._lower else place
