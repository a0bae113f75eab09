"""Chat completions."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from router.payloads.content import ContentPart, PartMember, TextPart, content_part, has_bare_url
from router.payloads.json_body import NOTHING, JsonPayload, decode_body, filled_list, is_true, output_cap, refuse

REFUSAL = "invalid chat completions request: must have valid messages field"


@dataclass(frozen=True, slots=True)
class Message:
    """One message: role and content in order. A string content is one text part, an empty or null one no part."""

    role: str
    content: tuple[ContentPart, ...]
    tool_calls: memoryview  # JSON, empty when absent


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatPayload(JsonPayload):
    """A chat completions body."""

    messages: tuple[Message, ...]
    tools: memoryview  # JSON as it stands in the body; empty when absent, null or []
    cache_salt: str = ""


class _Message(msgspec.Struct, frozen=True):
    role: str = ""
    content: str | list[PartMember] | None = None
    tool_calls: msgspec.Raw = NOTHING


class _Chat(msgspec.Struct, frozen=True):
    model: str | None = None
    stream: msgspec.Raw = NOTHING
    messages: list[_Message] | None = None
    tools: msgspec.Raw = NOTHING
    cache_salt: str | None = None
    max_completion_tokens: msgspec.Raw = NOTHING
    max_tokens: msgspec.Raw = NOTHING


_DECODER = msgspec.json.Decoder(_Chat)


def parse_chat(body: bytes, *, bare_urls: bool = True) -> ChatPayload:
    """Read a chat body; `bare_urls`: accept `"image_url": "…"` as well. Raises RequestError(BadRequest)."""
    chat = decode_body(_DECODER, body, REFUSAL)
    if not chat.messages:
        raise refuse(REFUSAL)
    return ChatPayload(
        model=chat.model or "",
        stream=is_true(chat.stream),
        max_output_tokens=output_cap((chat.max_completion_tokens, chat.max_tokens)),
        raw=body,
        messages=tuple(_message(message, bare_urls=bare_urls) for message in chat.messages),
        tools=filled_list(chat.tools),
        cache_salt=chat.cache_salt or "",
    )


def _message(message: _Message, *, bare_urls: bool) -> Message:
    calls = filled_list(message.tool_calls)
    if isinstance(message.content, str):
        return Message(message.role, (TextPart(message.content),) if message.content else (), calls)
    return Message(message.role, _parts(message.content or (), bare_urls=bare_urls), calls)


def _parts(members: Sequence[PartMember], *, bare_urls: bool) -> tuple[ContentPart, ...]:
    if not bare_urls and any(has_bare_url(member) for member in members):
        raise refuse(REFUSAL)
    try:
        return tuple(part for member in members if (part := content_part(member)) is not None)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise refuse(REFUSAL) from None
