"""Width and height from base64 text, decoding only the bytes that hold them."""

from binascii import Error as Base64Error
from binascii import a2b_base64
from io import BytesIO

import imagesize

_PREFIX = b"data:image/"
_MARK = b"base64,"
_HEAD_BYTES = 1024
_URL_SAFE = bytes.maketrans(b"-_", b"+/")

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8"
_GIF = (b"GIF87a", b"GIF89a")

_JPEG_SIZES = frozenset({0xC0, 0xC1, 0xC2})  # baseline, extended, progressive
_JPEG_ENDS = frozenset({0xD9, 0xDA})  # end of image, start of scan: no size will follow
_JPEG_BARE = frozenset({0x01, *range(0xD0, 0xD8)})  # markers without a length
_MAX_SEGMENTS = 512

_OTHER_FORMATS_BYTES = 1 << 16  # enough for the headers of WebP, AVIF, BMP and TIFF


class _Base64:
    """Random access to the bytes behind base64 text. Reads past the end are short; text that is no base64 raises."""

    def __init__(self, text: memoryview, *, reference: bool) -> None:
        head = bytes(text[:_HEAD_BYTES])
        if b"\n" in head or b"\r" in head:  # wrapped lines: rare, and worth a copy
            text = memoryview(bytes(text).translate(None, b"\r\n"))
        self._text, self._reference = text, reference

    def read(self, offset: int, length: int) -> bytes:
        """`length` bytes from `offset`."""
        first = offset // 3
        last = -(-(offset + length) // 3)
        group = bytes(self._text[4 * first : 4 * last])
        if len(group) % 4 and not group.endswith(b"="):
            group = group[: len(group) // 4 * 4] if len(group) % 4 == 1 else group + b"=" * (-len(group) % 4)
        if not self._reference:
            group = group.translate(_URL_SAFE)
        skip = offset - 3 * first
        return a2b_base64(group, strict_mode=True)[skip : skip + length]


def image_size(url: memoryview, *, reference: bool = False) -> tuple[int, int] | None:
    """(width, height) of the image in a data URL; None for other URLs and for what cannot be read.

    The content decides, not the declared type. PNG, JPEG and GIF always; `reference=False` adds WebP, AVIF, BMP, TIFF and the
    URL-safe alphabet.
    """
    head = bytes(url[:_HEAD_BYTES])
    mark = head.find(_MARK)
    if mark < 0 or not head.startswith(_PREFIX):
        return None
    return encoded_size(url[mark + len(_MARK) :], reference=reference)


def encoded_size(text: memoryview, *, reference: bool = False) -> tuple[int, int] | None:
    """(width, height) of the image in base64 text; None when it cannot be read. The rest is as for `image_size`."""
    source = _Base64(text, reference=reference)
    try:
        size = _read_size(source, reference=reference)
    except Base64Error:
        return None
    return size if size and size[0] > 0 and size[1] > 0 else None


def _read_size(source: _Base64, *, reference: bool) -> tuple[int, int] | None:
    head = source.read(0, 24)
    if head.startswith(_PNG):
        return _big(head[16:20]), _big(head[20:24])
    if head.startswith(_GIF):
        return _little(head[6:8]), _little(head[8:10])
    if head.startswith(_JPEG):
        return _jpeg_size(source)
    return None if reference else _other_size(source)


def _jpeg_size(source: _Base64) -> tuple[int, int] | None:
    """Follow the segments without reading what they hold."""
    position = len(_JPEG)
    for _ in range(_MAX_SEGMENTS):
        segment = source.read(position, 9)
        if len(segment) < 2 or segment[0] != 0xFF:
            return None
        marker = segment[1]
        if marker == 0xFF:  # a fill byte
            position += 1
        elif marker in _JPEG_BARE:
            position += 2
        elif marker in _JPEG_SIZES:
            return _big(segment[7:9]), _big(segment[5:7])
        elif marker in _JPEG_ENDS or len(segment) < 4:
            return None
        else:
            position += 2 + _big(segment[2:4])
    return None


def _other_size(source: _Base64) -> tuple[int, int] | None:
    size: tuple[int, int] = imagesize.get(BytesIO(source.read(0, _OTHER_FORMATS_BYTES)))
    return size


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")
