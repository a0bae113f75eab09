import base64
import io
import struct

import pytest
from PIL import Image

from cli.verification.pictures import COLOURS, PHOTO_BYTES, data_url, jpeg, photograph, png, video


def opened(content: bytes) -> Image.Image:
    picture = Image.open(io.BytesIO(content))
    picture.load()
    return picture


@pytest.mark.parametrize("name", COLOURS)
def test_a_png_is_of_one_colour(name: str) -> None:
    picture = opened(png(COLOURS[name]))

    assert picture.format == "PNG"
    assert picture.size == (64, 64)
    assert picture.getcolors() == [(64 * 64, COLOURS[name])]


@pytest.mark.parametrize("name", COLOURS)
def test_a_jpeg_is_nearly_of_one_colour(name: str) -> None:
    picture = opened(jpeg(COLOURS[name]))
    pixel = picture.getpixel((30, 30))

    assert picture.format == "JPEG"
    assert isinstance(pixel, tuple)
    assert all(abs(seen - wanted) <= 3 for seen, wanted in zip(pixel, COLOURS[name], strict=True))


def test_padding_makes_a_png_larger_and_changes_no_pixel() -> None:
    content = png(COLOURS["blue"], padding_bytes=1_000_000)

    assert len(content) > 1_000_000
    assert opened(content).getcolors() == [(64 * 64, COLOURS["blue"])]


def test_a_photograph_has_more_than_a_megabyte_and_many_colours() -> None:
    content = photograph()
    picture = opened(content)

    assert len(content) >= PHOTO_BYTES
    assert picture.format == "JPEG"
    assert len(set(picture.resize((64, 64)).get_flattened_data())) > 1000
    assert content == photograph()


def test_a_video_is_a_riff_file_of_jpegs() -> None:
    content = video(frames=5, frames_per_second=4)
    (size,) = struct.unpack("<I", content[4:8])

    assert content[:4] == b"RIFF"
    assert content[8:12] == b"AVI "
    assert size == len(content) - 8
    start = content.index(b"movi") + 4
    for _ in range(5):
        assert content[start : start + 4] == b"00dc"
        (length,) = struct.unpack("<I", content[start + 4 : start + 8])
        assert opened(content[start + 8 : start + 8 + length]).size == (64, 64)
        start += 8 + length + length % 2
    assert content[start : start + 4] == b"idx1"


def test_the_index_of_a_video_points_at_its_frames() -> None:
    content = video(frames=3)
    movie = content.index(b"movi")
    index = content.index(b"idx1") + 8
    for number in range(3):
        kind, _flags, offset, length = struct.unpack("<4sIII", content[index + 16 * number : index + 16 * number + 16])
        frame = movie + offset

        assert content[frame : frame + 4] == kind == b"00dc"
        assert struct.unpack("<I", content[frame + 4 : frame + 8]) == (length,)


def test_a_data_url_holds_the_bytes() -> None:
    assert base64.b64decode(data_url(b"abc", "image/png").removeprefix("data:image/png;base64,")) == b"abc"
