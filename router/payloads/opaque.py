"""A body that nobody reads."""

from dataclasses import dataclass

from router.framework.errors import ErrorCode, RequestError
from router.framework.parsing import Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class OpaquePayload(Payload):
    """Bytes without model, stream flag or cap."""

    raw: bytes
    model: str = ""
    stream: bool = False
    max_output_tokens: int | None = None
    skip_response: bool = False
    rewritable: bool = False

    def with_model(self, model: str) -> bytes:
        """Raises RequestError: there is no model to replace."""
        raise RequestError(ErrorCode.BadRequest, f'model "{model}" cannot be set: the body of this path is not read')
