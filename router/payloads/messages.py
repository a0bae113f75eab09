"""Anthropic's Messages API."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from router.payloads.content import MediaPart, TextPart, string_bytes
from router.payloads.json_body import NOTHING, JsonPayload, decode_body, decode_member, filled_list, is_true, output_cap, present, refuse

REFUSAL = "invalid messages request: must have valid messages field"
BILLING = "x-anthropic-billing-header"  # a client's book-keeping that changes with every request; no model reads it


@dataclass(frozen=True, slots=True)
class InlineImage:
    """An image given in the body."""

    data: memoryview  # base64 text
    media_type: str  # empty when the body names none


@dataclass(frozen=True, slots=True)
class Thinking:
    """What a model thought in an earlier turn; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A model's call of a tool."""

    id: str
    name: str
    input: memoryview  # JSON, empty when absent


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answered."""

    tool_use_id: str
    content: tuple[TextPart | MediaPart | InlineImage, ...]


Block = TextPart | MediaPart | InlineImage | Thinking | ToolUse | ToolResult


@dataclass(frozen=True, slots=True)
class Turn:
    """One message: role and blocks in order; blocks that are not known, or hold nothing to read, are left out."""

    role: str
    content: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesPayload(JsonPayload):
    """A messages body."""

    system: tuple[str, ...]  # texts, without the billing block
    messages: tuple[Turn, ...]
    tools: memoryview  # JSON as it stands in the body; empty when absent, null or []
    cache_salt: str = ""


class _Source(msgspec.Struct, frozen=True):
    type: str = ""
    url: msgspec.Raw = msgspec.Raw(b'""')
    data: msgspec.Raw = msgspec.Raw(b'""')
    media_type: str | None = None


class _Block(msgspec.Struct, frozen=True):
    """Members whose type depends on the kind of block stay raw."""

    type: str = ""
    text: msgspec.Raw = NOTHING
    thinking: msgspec.Raw = NOTHING
    id: msgspec.Raw = NOTHING
    name: msgspec.Raw = NOTHING
    input: msgspec.Raw = NOTHING
    tool_use_id: msgspec.Raw = NOTHING
    content: msgspec.Raw = NOTHING
    source: msgspec.Raw = NOTHING


_Content = str | list[_Block] | None


class _Message(msgspec.Struct, frozen=True):
    role: str = ""
    content: _Content = None


class _Messages(msgspec.Struct, frozen=True):
    model: str | None = None
    stream: msgspec.Raw = NOTHING
    system: _Content = None
    messages: list[_Message] | None = None
    tools: msgspec.Raw = NOTHING
    cache_salt: str | None = None
    max_tokens: msgspec.Raw = NOTHING


_DECODER = msgspec.json.Decoder(_Messages)
_CONTENT = msgspec.json.Decoder(_Content)
_SOURCE = msgspec.json.Decoder(_Source)
_TEXT = msgspec.json.Decoder(str | None)


def parse_messages(body: bytes) -> MessagesPayload:
    """Read a messages body; raises RequestError(BadRequest)."""
    read = decode_body(_DECODER, body, REFUSAL)
    if not read.messages:
        raise refuse(REFUSAL)
    return MessagesPayload(
        model=read.model or "",
        stream=is_true(read.stream),
        max_output_tokens=output_cap((read.max_tokens,)),
        raw=body,
        system=_system(read.system),
        messages=tuple(Turn(message.role, _blocks(message.content)) for message in read.messages),
        tools=filled_list(read.tools),
        cache_salt=read.cache_salt or "",
    )


def _system(content: _Content) -> tuple[str, ...]:
    if isinstance(content, str):
        return (content,) if content else ()
    texts = (_text(block.text) for block in content or () if block.type == "text")
    return tuple(text for text in texts if text and not text.startswith(BILLING))


def _blocks(content: _Content) -> tuple[Block, ...]:
    if isinstance(content, str):
        return (TextPart(content),) if content else ()
    return tuple(block for member in content or () if (block := _block(member)) is not None)


def _block(member: _Block) -> Block | None:
    match member.type:
        case "thinking":
            thought = _text(member.thinking)
            return Thinking(thought) if thought else None
        case "tool_use":
            arguments = memoryview(member.input if present(member.input) else b"")
            return ToolUse(_text(member.id), _text(member.name), arguments)
        case "tool_result":
            return ToolResult(_text(member.tool_use_id), _result(member.content))
        case _:
            return _part(member)


def _result(content: msgspec.Raw) -> tuple[TextPart | MediaPart | InlineImage, ...]:
    members = decode_member(_CONTENT, content, REFUSAL) if present(content) else None
    if isinstance(members, str):
        return (TextPart(members),) if members else ()
    return _parts(members or ())


def _parts(members: Sequence[_Block]) -> tuple[TextPart | MediaPart | InlineImage, ...]:
    return tuple(part for member in members if (part := _part(member)) is not None)


def _part(member: _Block) -> TextPart | MediaPart | InlineImage | None:
    match member.type:
        case "text":
            text = _text(member.text)
            return TextPart(text) if text else None
        case "image":
            return _image(member.source)
        case _:
            return None


def _image(source: msgspec.Raw) -> MediaPart | InlineImage | None:
    read = decode_member(_SOURCE, source, REFUSAL)
    try:
        match read.type:
            case "url":
                return MediaPart("image", string_bytes(read.url))
            case "base64":
                return InlineImage(string_bytes(read.data), read.media_type or "")
            case _:  # a file that only the model server can open
                return None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise refuse(REFUSAL) from None


def _text(member: msgspec.Raw) -> str:
    return (decode_member(_TEXT, member, REFUSAL) if present(member) else None) or ""
