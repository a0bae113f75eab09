"""Message content: text and media, as views into the body.

Nothing is copied but text; media stay where they arrived, so a payload keeps its body alive as long as a part is held.
"""

from dataclasses import dataclass

import msgspec

_PIECE_BYTES = 65_536  # stays in a core's cache, which makes the copy of a piece nearly free


@dataclass(frozen=True, slots=True)
class TextPart:
    """A text; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class MediaPart:
    """An image, video or audio given by URL."""

    modality: str  # image, video or audio
    url: memoryview  # the URL's exact bytes, data URLs in full; empty when the part has none


@dataclass(frozen=True, slots=True)
class AudioPart:
    """Audio given in the body."""

    data: memoryview  # base64 text
    format: str


ContentPart = TextPart | MediaPart | AudioPart


class UrlMember(msgspec.Struct, frozen=True):
    """`{"url": …}` of a content part."""

    url: msgspec.Raw = msgspec.Raw(b'""')


class AudioMember(msgspec.Struct, frozen=True):
    """`input_audio` of a content part."""

    data: msgspec.Raw = msgspec.Raw(b'""')
    format: str = ""


class PartMember(msgspec.Struct, frozen=True):
    """A content part as it stands in JSON; unknown members and types are ignored."""

    type: str = ""
    text: str | None = None
    image_url: UrlMember | str | None = None
    video_url: UrlMember | str | None = None
    audio_url: UrlMember | str | None = None
    input_audio: AudioMember | None = None


def content_part(member: PartMember) -> ContentPart | None:
    """The part that a member describes; None for an unknown type or an empty text. Raises msgspec.DecodeError."""
    match member.type:
        case "text":
            return TextPart(member.text) if member.text else None
        case "image_url":
            return MediaPart("image", url_bytes(member.image_url))
        case "video_url":
            return MediaPart("video", url_bytes(member.video_url))
        case "audio_url":
            return MediaPart("audio", url_bytes(member.audio_url))
        case "input_audio" if member.input_audio is not None:
            return AudioPart(string_bytes(member.input_audio.data), member.input_audio.format)
        case _:
            return None


def has_bare_url(member: PartMember) -> bool:
    """Whether a URL stands as a plain string instead of an object."""
    return any(isinstance(url, str) for url in (member.image_url, member.video_url, member.audio_url))


def url_bytes(url: UrlMember | str | None) -> memoryview:
    """The URL of a part, empty when it has none."""
    if isinstance(url, UrlMember):
        return string_bytes(url.url)
    return memoryview((url or "").encode())


def string_bytes(literal: msgspec.Raw) -> memoryview:
    """UTF-8 bytes of a JSON string; a view into the body unless it contains escapes. Raises msgspec.DecodeError."""
    view = memoryview(literal)
    if not view or view[0] != ord('"') or _has_escapes(view):
        return memoryview(msgspec.json.decode(literal, type=str).encode())
    return view[1:-1]


def _has_escapes(view: memoryview) -> bool:
    return any(b"\\" in bytes(view[start : start + _PIECE_BYTES]) for start in range(0, len(view), _PIECE_BYTES))
