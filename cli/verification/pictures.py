"""Pictures and a video made on the spot: no file is shipped, none is fetched."""

import base64
import io
import random
import struct
import zlib
from collections.abc import Iterable, Mapping
from typing import Final

from PIL import Image

COLOURS: Final[Mapping[str, tuple[int, int, int]]] = {
    "red": (255, 0, 0),
    "green": (0, 128, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "orange": (255, 165, 0),
    "purple": (128, 0, 128),
    "pink": (255, 192, 203),
    "brown": (139, 69, 19),
    "black": (0, 0, 0),
    "white": (255, 255, 255),
}
PNG: Final = "image/png"
JPEG: Final = "image/jpeg"
SIDE: Final = 64  # the guide's picture is 64 by 64
PNG_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
PADDING_CHUNK: Final = b"paDd"  # lower case first letter: ancillary, so readers skip it
PHOTO_SIZE: Final = (1600, 1200)
PHOTO_BYTES: Final = 1_000_000  # at least
SEED: Final = 20


def png(colour: tuple[int, int, int], *, padding_bytes: int = 0) -> bytes:
    """A 64×64 PNG of one colour; `padding_bytes` of noise travel in a chunk that changes nothing of the picture."""
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)  # 8 bits, RGB
    line = b"\0" + bytes(colour) * SIDE
    padding = [(PADDING_CHUNK, random.Random(SEED).randbytes(padding_bytes))] if padding_bytes else []  # noqa: S311 - noise, not a secret
    chunks = [(b"IHDR", header), *padding, (b"IDAT", zlib.compress(line * SIDE)), (b"IEND", b"")]
    return PNG_SIGNATURE + b"".join(_chunk(kind, content) for kind, content in chunks)


def jpeg(colour: tuple[int, int, int]) -> bytes:
    """A 64×64 JPEG of one colour."""
    return _encoded(Image.new("RGB", (SIDE, SIDE), colour), quality=90)


def photograph() -> bytes:
    """A JPEG of at least 1 MB with what a photograph has: smooth light, edges and grain. The same bytes at each call."""
    noise = Image.frombytes("L", PHOTO_SIZE, random.Random(SEED).randbytes(PHOTO_SIZE[0] * PHOTO_SIZE[1]))  # noqa: S311 - the same at each call
    light = Image.linear_gradient("L").resize(PHOTO_SIZE)
    glow = Image.radial_gradient("L").resize(PHOTO_SIZE)
    scene = Image.merge("RGB", (light, glow, light.transpose(Image.Transpose.FLIP_TOP_BOTTOM)))
    grain = Image.merge("RGB", (noise, noise.transpose(Image.Transpose.FLIP_LEFT_RIGHT), noise.transpose(Image.Transpose.ROTATE_180)))
    mixed = Image.blend(scene, grain, 0.35)
    for quality in (80, 90, 95, 98):
        content = _encoded(mixed, quality=quality)
        if len(content) >= PHOTO_BYTES:
            return content
    raise AssertionError("a photograph of this size and grain has more than a megabyte at quality 98")


def video(frames: int = 8, frames_per_second: int = 4) -> bytes:
    """A short AVI of JPEG frames (motion JPEG) that fade from red to blue: the one video format that needs no encoder."""
    shades = [round(255 * number / max(frames - 1, 1)) for number in range(frames)]
    pictures = [jpeg((255 - shade, 0, shade)) for shade in shades]
    return _avi(pictures, frames_per_second)


def data_url(content: bytes, media_type: str) -> str:
    """`content` as a data URL."""
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


def _encoded(picture: Image.Image, *, quality: int) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _avi(pictures: list[bytes], frames_per_second: int) -> bytes:
    """RIFF: a list of headers, a list of frames, an index."""
    largest = max(len(picture) for picture in pictures)
    main = struct.pack(
        "<14I", 1_000_000 // frames_per_second, largest * frames_per_second, 0, 0x10, len(pictures), 0, 1, largest, SIDE, SIDE, 0, 0, 0, 0
    )  # 0x10: has an index
    stream = struct.pack(
        "<4s4sIHHIIIIIIII4H", b"vids", b"MJPG", 0, 0, 0, 0, 1, frames_per_second, 0, len(pictures), largest, 0xFFFFFFFF, 0, 0, 0, SIDE, SIDE
    )
    bitmap = struct.pack("<IiiHH4sIiiII", 40, SIDE, SIDE, 1, 24, b"MJPG", SIDE * SIDE * 3, 0, 0, 0, 0)
    headers = _list(b"hdrl", _riff(b"avih", main) + _list(b"strl", _riff(b"strh", stream) + _riff(b"strf", bitmap)))
    frames = _list(b"movi", b"".join(_riff(b"00dc", picture) for picture in pictures))
    return _riff(b"RIFF", b"AVI " + headers + frames + _riff(b"idx1", b"".join(_index(pictures))))


def _index(pictures: Iterable[bytes]) -> Iterable[bytes]:
    offset = 4  # counted from the list's type word
    for picture in pictures:
        yield struct.pack("<4sIII", b"00dc", 0x10, offset, len(picture))  # 0x10: a key frame, as every JPEG is
        offset += 8 + len(picture) + len(picture) % 2


def _riff(kind: bytes, content: bytes) -> bytes:
    return kind + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def _list(kind: bytes, content: bytes) -> bytes:
    return _riff(b"LIST", kind + content)
