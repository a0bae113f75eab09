"""The Conversations API."""

from dataclasses import dataclass

import msgspec

from router.payloads.json_body import NOTHING, JsonPayload, decode_body, decode_member, is_true, present, refuse

REFUSAL = "invalid conversations request: must have items field"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationsPayload(JsonPayload):
    """A Conversations body; its items stay JSON."""

    items: memoryview


class _Conversations(msgspec.Struct, frozen=True):
    model: str | None = None
    stream: msgspec.Raw = NOTHING
    items: msgspec.Raw = NOTHING


_DECODER = msgspec.json.Decoder(_Conversations)
_LIST = msgspec.json.Decoder(list[msgspec.Raw])


def parse_conversations(body: bytes) -> ConversationsPayload:
    """Read a Conversations body; raises RequestError(BadRequest)."""
    conversations = decode_body(_DECODER, body, REFUSAL)
    if not present(conversations.items) or not decode_member(_LIST, conversations.items, REFUSAL):
        raise refuse(REFUSAL)
    return ConversationsPayload(
        model=conversations.model or "",
        stream=is_true(conversations.stream),
        max_output_tokens=None,
        raw=body,
        items=memoryview(conversations.items),
    )
