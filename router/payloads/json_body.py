"""What the JSON bodies share: decoding with one kind of error, the model name, the output cap."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from router.framework.errors import ErrorCode, RequestError
from router.framework.parsing import Payload
from router.payloads.splice import splice_model

T = TypeVar("T")

NOTHING = msgspec.Raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonPayload(Payload):
    """A body that is one JSON object."""

    model: str
    stream: bool
    max_output_tokens: int | None
    raw: bytes
    skip_response: bool = False
    rewritable: bool = True  # False: `raw` is not the JSON itself, or its API knows no model

    def with_model(self, model: str) -> bytes:
        """The body with another model name; a body without one gets it as first member. Raises RequestError if not rewritable."""
        if not self.rewritable:
            raise RequestError(ErrorCode.BadRequest, f'model "{model}" cannot be set: the body of this path names no model to replace')
        return splice_model(self.raw, model)


def decode_body(decoder: msgspec.json.Decoder[T], body: bytes, refusal: str) -> T:
    """Decode a body; raises RequestError(BadRequest), with `refusal` where a member has a wrong type."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise RequestError(ErrorCode.BadRequest, _explain(str(error), refusal)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RequestError(ErrorCode.BadRequest, f"error unmarshaling request bodyMap: {error}") from None


def decode_member(decoder: msgspec.json.Decoder[T], member: msgspec.Raw, refusal: str) -> T:
    """Decode one member that was left raw; raises RequestError(BadRequest) with `refusal`."""
    try:
        return decoder.decode(member)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RequestError(ErrorCode.BadRequest, refusal) from None


def refuse(refusal: str) -> RequestError:
    """The error for a body that is JSON but not a request of its API."""
    return RequestError(ErrorCode.BadRequest, refusal)


def is_true(member: msgspec.Raw) -> bool:
    """Whether a raw member is the literal `true`; any other value counts as false."""
    return bytes(member) == b"true"


def present(member: msgspec.Raw) -> bool:
    """Whether a raw member is there and not null."""
    return bytes(memoryview(member)[:5]) not in {b"", b"null"}


def filled_list(member: msgspec.Raw) -> memoryview:
    """A raw list as it stands in the body; empty when it is absent, null or []."""
    if not present(member) or bytes(memoryview(member)[:64]).translate(None, b" \t\r\n") == b"[]":
        return memoryview(b"")
    return memoryview(member)


def output_cap(members: Sequence[msgspec.Raw]) -> int | None:
    """The first member that is a whole number of zero or more; others are skipped."""
    for member in members:
        value = _number(member)
        if value is not None:
            return value
    return None


def _number(member: msgspec.Raw) -> int | None:
    text = bytes(member)
    if not text or text[0] not in b"-0123456789":
        return None
    try:
        value = msgspec.json.decode(text, type=int | float)
    except (msgspec.DecodeError, ValueError):  # out of the range of numbers that are read
        return None
    whole = isinstance(value, int) or value.is_integer()
    return int(value) if whole and value >= 0 else None


def _explain(error: str, refusal: str) -> str:
    if " - at `$" not in error:
        return f"error unmarshaling request bodyMap: {error}"
    if error.endswith(" - at `$.model`"):
        return "invalid request: model must be a string"
    return refusal
