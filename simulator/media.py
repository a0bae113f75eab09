"""Media items of a request: where they are, what they are, what they cost.

The identity of an item depends on its content (or the client's `uuid`), the model and the processor options, never on its place in
the request: another server that sees the item alone computes the same.
"""

import base64
import binascii
import io
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol
from urllib.parse import unquote_to_bytes, urlsplit

import imagesize

from simulator.errors import ApiError
from simulator.options import Options
from simulator.tokens import media as rules

KIND_OF_PART = {"image_url": "image", "video_url": "video", "audio_url": "audio", "input_audio": "audio", "image_embeds": "image"}
BYTES_PER_PIXEL = 12  # of a processed image in the processor cache
VIDEO_SIZE, DEFAULT_SECONDS = (640, 360), 10.0
HEADER_BYTES = 512 * 1024  # of an image; a JPEG may carry long comments before its size


class Fetcher(Protocol):
    """Gets a media URL."""

    async def fetch(self, url: str) -> bytes:
        """The body; raises ApiError as vLLM answers."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaItem:
    """One item, priced."""

    kind: str  # image, video or audio
    hash: str
    tokens: int  # visual (or audio) placeholder tokens, markers not counted
    processed_bytes: int
    source: str  # data, url or uuid
    content: bytes | None = None  # the encoded file, where this server has it


@dataclass(frozen=True, slots=True)
class RawItem:
    """One content part, not looked at yet."""

    kind: str
    url: str
    uuid: str


def raw_item(part: Mapping[str, Any], index: int) -> RawItem:
    """A media content part. Raises ApiError for what vLLM refuses."""
    kind = KIND_OF_PART[part["type"]]
    uuid = part.get("uuid") or ""
    body: Any = part.get(part["type"])
    if part["type"] == "input_audio" and isinstance(body, Mapping):
        url = f"data:audio/{body.get('format', 'wav')};base64,{body.get('data', '')}"
    elif isinstance(body, Mapping):
        url = body.get("url") or ""
    else:
        url = body or ""
    if not isinstance(url, str) or (not url and not uuid):
        raise ApiError(400, f"1 validation error: content part {index} has no {part['type']}", param=f"body.messages.content.{index}")
    return RawItem(kind, url, str(uuid))


async def look(item: RawItem, options: Options, fetcher: Fetcher | None, overrides: Mapping[str, Any]) -> MediaItem:
    """Price and identify an item; fetches only when `fetcher` is given."""
    content = await _content(item, options, fetcher)
    kwargs = {**options.mm_processor_kwargs, **overrides}
    if item.kind == "image":
        width, height = _image_size(item, content, options)
        limits = _limits(kwargs)
        w, h = rules.resized(width, height, limits)
        tokens, processed = _image_price(width, height, limits, options), w * h * BYTES_PER_PIXEL
    elif item.kind == "video":
        width, height = (None if item.url.startswith("data:") else rules.size_hint(item.url)) or VIDEO_SIZE
        seconds = (None if item.url.startswith("data:") else rules.duration_hint(item.url)) or DEFAULT_SECONDS
        tokens = rules.video_tokens(width, height, seconds)
        processed = tokens * rules.CELL * rules.CELL * BYTES_PER_PIXEL
    else:
        seconds = _wav_seconds(content) or (None if item.url.startswith("data:") else rules.duration_hint(item.url)) or DEFAULT_SECONDS
        tokens = rules.audio_tokens(seconds)
        processed = tokens * 1_280
    source = "data" if item.url.startswith("data:") else "url" if item.url else "uuid"
    digest = item.uuid or _identity(item, content, options.model, kwargs)
    return MediaItem(kind=item.kind, hash=digest, tokens=tokens, processed_bytes=processed, source=source, content=content)


async def _content(item: RawItem, options: Options, fetcher: Fetcher | None) -> bytes | None:
    if not item.url:
        return None
    if item.url.startswith("data:"):
        return decode_data_url(item.url)
    parts = urlsplit(item.url)
    if parts.scheme not in ("http", "https", "file"):
        raise ApiError(400, "The URL must be either a HTTP, data or file URL.")
    if parts.scheme == "file":
        raise ApiError(500, "Cannot load local files without `--allowed-local-media-path`.")
    if options.allowed_media_domains and parts.hostname not in options.allowed_media_domains:
        raise ApiError(400, f"The URL must be from one of the allowed domains: {', '.join(options.allowed_media_domains)}.")
    return await fetcher.fetch(item.url) if fetcher else None


def decode_data_url(url: str) -> bytes:
    """The bytes of a `data:` URL. Raises ApiError."""
    head, comma, data = url.partition(",")
    if not comma:
        raise ApiError(400, "Failed to load image: the data URL has no comma")
    if not head.endswith(";base64"):
        return unquote_to_bytes(data)
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ApiError(400, f"Non-base64 digit found ({error})") from error


def _image_size(item: RawItem, content: bytes | None, options: Options) -> tuple[int, int]:
    if content is None:
        return rules.size_hint(item.url) or options.default_image_size
    width, height = imagesize.get(io.BytesIO(content[:HEADER_BYTES]))
    if int(width) <= 0 or int(height) <= 0:
        raise ApiError(400, "Failed to load image: cannot identify image file")
    return int(width), int(height)


def _image_price(width: int, height: int, limits: rules.PixelLimits, options: Options) -> int:
    """Placeholder tokens of an image: the model family's rule, or what the options say instead."""
    how, number = options.media_tokens
    if how == "fixed":
        return int(number)
    return max(1, round(width * height / number)) if how == "factor" else rules.image_tokens(width, height, limits)


def _limits(kwargs: Mapping[str, Any]) -> rules.PixelLimits:
    size = kwargs.get("size") or {}
    return rules.PixelLimits(
        int(kwargs.get("min_pixels") or size.get("shortest_edge") or rules.MIN_PIXELS),
        int(kwargs.get("max_pixels") or size.get("longest_edge") or rules.MAX_PIXELS),
    )


def _wav_seconds(content: bytes | None) -> float | None:
    if content is None or content[:4] != b"RIFF" or len(content) < 44:
        return None
    rate = int.from_bytes(content[28:32], "little")
    return (len(content) - 44) / rate if rate else None


def _identity(item: RawItem, content: bytes | None, model: str, kwargs: Mapping[str, Any]) -> str:
    digest = sha256(f"{model}\0{item.kind}\0{sorted(kwargs.items())!r}\0".encode())
    digest.update(item.url.encode() if content is None else content)
    return digest.hexdigest()
