"""Keeps endpoints on which a number, such as a metric that an extractor reads, satisfies a comparison."""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from router.framework.attributes.scalar import ScalarAttribute
from router.framework.endpoint import Endpoint
from router.framework.errors import ConfigError
from router.framework.plugin import Consumes, Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Filter

TYPE = "endpoint-attribute-filter"
_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "LessThan": operator.lt,
    "LessThanOrEqual": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanOrEqual": operator.ge,
    "Equal": operator.eq,
    "NotEqual": operator.ne,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """The comparison: the attribute stands on its left."""

    operator: Literal["LessThan", "LessThanOrEqual", "GreaterThan", "GreaterThanOrEqual", "Equal", "NotEqual"]
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Algorithm:
    """How endpoints are told apart."""

    type: Literal["threshold"]
    threshold: Threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    attribute: str
    algorithm: Algorithm
    producer: str | None = None  # of the attribute; omitted: core-metrics-extractor; empty: any
    on_missing: Literal["Pass", "Fail"] = "Pass"
    fallback_on_empty: bool = False  # keep all when none passes

    def __post_init__(self) -> None:
        if not self.attribute:
            raise ConfigError("must not be empty", field="attribute")


class EndpointAttributeFilter(Filter):
    """Compares one attribute with one value."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        threshold = parameters.algorithm.threshold
        self._compare, self._value = _COMPARISONS[threshold.operator], threshold.value
        self._attribute = ScalarAttribute(parameters.attribute, parameters.producer)
        self._missing_passes = parameters.on_missing == "Pass"
        self._fallback = parameters.fallback_on_empty

    def consumes(self) -> Consumes:
        """The attribute."""
        return Consumes(required=self._attribute.required)

    def filter(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """What passes; with the fallback, all when nothing does."""
        kept = [endpoint for endpoint in endpoints if self._passes(endpoint)]
        return endpoints if not kept and self._fallback else kept

    def _passes(self, endpoint: Endpoint) -> bool:
        value = self._attribute.read(endpoint)
        return self._missing_passes if value is None else self._compare(value, self._value)
