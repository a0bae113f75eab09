"""Which model a request is really for."""

from collections.abc import Mapping
from typing import Protocol

from router import wire
from router.engine.control.context import RequestContext
from router.framework.errors import ErrorCode, RequestError


class RewriteRules(Protocol):
    """Rules that replace model names, as `InferenceModelRewrite` objects state them."""

    def target(self, model: str, headers: Mapping[str, str]) -> str | None:
        """The model a matching rule chose; None: no rule matches."""
        ...


class NoRules:
    """No rules."""

    def target(self, model: str, headers: Mapping[str, str]) -> str | None:
        """None, always."""
        return None


class ModelRewrite:
    """Settles the target model and rewrites the body where it names another."""

    def __init__(self, rules: RewriteRules) -> None:
        self._rules = rules

    def apply(self, context: RequestContext) -> None:
        """Set target model and, if need be, body. Raises RequestError when no model is known; a body that is not rewritable needs none."""
        payload = context.payload
        if not payload.rewritable:
            context.target_model = payload.model
            return
        wanted = context.header(wire.MODEL_REWRITE) or payload.model
        target = self._rules.target(wanted, context.headers) or wanted
        if not target:
            raise RequestError(ErrorCode.BadRequest, "model not found in request body")
        if target != payload.model:
            context.body = payload.with_model(target)
            context.size_bytes = len(context.body)
        context.target_model = target
