"""Who a request is for and how important it is."""

from typing import Protocol

from router import wire
from router.engine.control.context import RequestContext
from router.framework.request import InferenceRequest


class Priorities(Protocol):
    """Priorities by the name of an objective, as `InferenceObjective` objects state them."""

    def priority(self, objective: str) -> int:
        """The objective's priority; 0 when it is not known."""
        ...


class NoPriorities:
    """No objectives: everything has priority 0."""

    def priority(self, objective: str) -> int:
        """0, always."""
        return 0


class Objectives:
    """Builds the scheduler's view of a request."""

    def __init__(self, priorities: Priorities) -> None:
        self._priorities = priorities

    def build_request(self, context: RequestContext) -> InferenceRequest:
        """The request that plugins and scheduler see; its headers are the context's own."""
        payload = context.payload
        objective = context.header(wire.OBJECTIVE)
        request = InferenceRequest(
            id=context.id,
            external_id=context.external_id,
            incoming_model=payload.model,
            target_model=context.target_model,
            fairness_id=context.header(wire.FAIRNESS_ID) or wire.DEFAULT_FAIRNESS_ID,
            priority=self._priorities.priority(objective) if objective else 0,
            stream=payload.stream,
            max_output_tokens=payload.max_output_tokens,
            size_bytes=context.size_bytes,
            received_at=context.received_at,
            headers=context.headers,
        )
        context.request = request
        return request
