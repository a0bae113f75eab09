"""Data URLs of pictures that consist of a header only."""

import struct
from base64 import b64encode

DATA_URL_64_X_32 = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAEAAAAAgCAIAAAAt/+nTAAAARUlEQVR4nOzP0QnAUAzDwBSy/8zlTSECdxj/a2fmu7x9d5mAmoCagJqAmoCag"
    "JqAmoCagJqAmoCagJqAmoCagJqAmoCagNofAAD//57WAN8yR4QZAAAAAElFTkSuQmCC"
)


def png(width: int, height: int) -> bytes:
    """The first bytes of a PNG."""
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII5B", 13, b"IHDR", width, height, 8, 2, 0, 0, 0)


def jpeg(width: int, height: int, *, marker: int = 0xC0, before: bytes = b"") -> bytes:
    """The first bytes of a JPEG; `before` stands between its start and its frame header."""
    return b"\xff\xd8" + before + struct.pack(">BBHBHHB", 0xFF, marker, 11, 8, height, width, 3) + b"\x00" * 4


def gif(width: int, height: int) -> bytes:
    """The first bytes of a GIF."""
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\x00\x00\x00;"


def webp(width: int, height: int) -> bytes:
    """The first bytes of an extended WebP."""
    canvas = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF" + struct.pack("<I", 22) + b"WEBPVP8X" + struct.pack("<I", 10) + b"\x00" * 4 + canvas


def data_url(content: bytes, media_type: str = "image/png") -> str:
    """`data:` URL of some bytes."""
    return f"data:{media_type};base64,{b64encode(content).decode()}"


def png_url(width: int, height: int) -> str:
    """Data URL of a PNG header."""
    return data_url(png(width, height))
