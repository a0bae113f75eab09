"""Turns errors into HTTP. The only place that does."""

import msgspec

from router import wire
from router.engine.extproc.transport.messages import ImmediateReply
from router.framework.compat import Compat
from router.framework.errors import RequestError


def refusal(error: RequestError, compat: Compat) -> ImmediateReply:
    """The answer to a refused request: JSON as vLLM's errors are, or the reference's plain text."""
    headers: list[tuple[str, str]] = []
    if compat.reference:
        body = f"inference error: {error.code.name} - {error.message}".encode()
    else:
        body = _json(error)
        headers.append((wire.CONTENT_TYPE, "application/json"))
    if error.dropped_reason is not None:
        headers.append((wire.DROPPED_REASON, error.dropped_reason.value))
    return ImmediateReply(error.code.value, tuple(headers), body)


def _json(error: RequestError) -> bytes:
    member = {"message": error.message, "type": f"{error.code.name}Error", "code": error.code.value}
    return msgspec.json.encode({"error": member})
