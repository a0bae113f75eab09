"""The Responses API."""

from dataclasses import dataclass

import msgspec

from router.payloads.json_body import NOTHING, JsonPayload, decode_body, is_true, output_cap, present, refuse

REFUSAL = "invalid responses request: must have input field"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponsesPayload(JsonPayload):
    """A Responses body; its content stays JSON. Members that are absent or null are empty."""

    instructions: memoryview
    tools: memoryview
    input: memoryview
    cache_salt: str = ""


class _Responses(msgspec.Struct, frozen=True):
    model: str | None = None
    stream: msgspec.Raw = NOTHING
    instructions: msgspec.Raw = NOTHING
    tools: msgspec.Raw = NOTHING
    input: msgspec.Raw = NOTHING
    cache_salt: str | None = None
    max_output_tokens: msgspec.Raw = NOTHING


_DECODER = msgspec.json.Decoder(_Responses)


def parse_responses(body: bytes) -> ResponsesPayload:
    """Read a Responses body; raises RequestError(BadRequest)."""
    responses = decode_body(_DECODER, body, REFUSAL)
    if not present(responses.input):
        raise refuse(REFUSAL)
    return ResponsesPayload(
        model=responses.model or "",
        stream=is_true(responses.stream),
        max_output_tokens=output_cap((responses.max_output_tokens,)),
        raw=body,
        instructions=_filled(responses.instructions),
        tools=_filled(responses.tools),
        input=memoryview(responses.input),
        cache_salt=responses.cache_salt or "",
    )


def _filled(member: msgspec.Raw) -> memoryview:
    return memoryview(member if present(member) else b"")
