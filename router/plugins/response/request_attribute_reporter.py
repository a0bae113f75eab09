"""Tells the proxy a number about a finished response, such as its tokens, as dynamic metadata for billing or limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from logging import getLogger
from typing import Any

from router.expressions.parser import Expression, parse
from router.expressions.tokens import ExpressionError
from router.framework.control import ResponseBody, ResponseProgress, TerminationCause
from router.framework.errors import ConfigError
from router.framework.parsing import Usage
from router.framework.plugin import Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult
from router.wire import LB_NAMESPACE

TYPE = "request-attribute-reporter"

log = getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """Where the number goes."""

    name: str
    namespace: str = LB_NAMESPACE


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """One number."""

    key: Key
    expression: str  # over `usage`; gives a whole number
    condition: str = ""  # report only if true; empty: always

    def __post_init__(self) -> None:
        _parsed(self.expression, "expression")
        if self.condition:
            _parsed(self.condition, "condition")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    attributes: tuple[Attribute, ...] = field(default=())

    def __post_init__(self) -> None:
        if len(self.attributes) != 1:
            raise ConfigError(f"{len(self.attributes)} are given; exactly one is needed", field="attributes")


class RequestAttributeReporter(ResponseBody):
    """Evaluates the expression once a response has ended by itself; what has no value is not reported."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        (attribute,) = parameters.attributes
        self._key = attribute.key
        self._value = _parsed(attribute.expression, "expression")
        self._condition = _parsed(attribute.condition or "true", "condition")

    def on_progress(self, request: InferenceRequest, result: SchedulingResult, progress: ResponseProgress) -> dict[str, Any] | None:
        """The number, with the last reply."""
        if progress.cause is not TerminationCause.NATURAL:
            return None
        data = {"usage": _as_map(progress.usage or Usage())}
        try:
            if self._condition(data) is not True:
                return None
            value = self._value(data)
        except ExpressionError as error:
            log.debug("nothing to report", extra={"fields": {"plugin": self.name, "reason": str(error)}})
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
            log.debug("the expression gives no whole number", extra={"fields": {"plugin": self.name}})
            return None
        return {self._key.namespace: {self._key.name: int(value)}}


def _parsed(text: str, place: str) -> Expression:
    try:
        return parse(text)
    except ExpressionError as error:
        raise ConfigError(f"{text!r} cannot be used: {error}", field=place) from error


def _as_map(usage: Usage) -> Mapping[str, Any]:
    """Usage as servers write it; what was not reported is not there."""
    plain = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens, "total_tokens": usage.total_tokens}
    given: dict[str, Any] = {name: count for name, count in plain.items() if count is not None}
    if usage.cached_tokens is not None:
        given["prompt_tokens_details"] = {"cached_tokens": usage.cached_tokens}
    return given
