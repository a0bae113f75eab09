import tracemalloc
from base64 import b64encode, urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.tokens.image_header import image_size
from tests.support.pictures import DATA_URL_64_X_32, data_url, gif, jpeg, png, png_url, webp


def size(url: str, *, reference: bool = False) -> tuple[int, int] | None:
    return image_size(memoryview(url.encode()), reference=reference)


APP_SEGMENT = b"\xff\xe1\xff\xff" + bytes(0xFFFD)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        pytest.param("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAA+gAAAK8CAIAAADzqQLm", (1000, 700), id="B30"),
        pytest.param("data:image/gif;base64,R0lGODlhLAHIAAAAADs=", (300, 200), id="B31"),
        pytest.param("data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD/wAARCAHgAoADASIAAhEBAxEB/9k=", (640, 480), id="B32"),
        pytest.param(
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
            (1, 1),
            id="B33",
        ),
        pytest.param(DATA_URL_64_X_32, (64, 32), id="B07"),
        pytest.param(data_url(png(64, 32), "image/jpeg"), (64, 32), id="B26-content-decides"),
        pytest.param(data_url(jpeg(640, 480, marker=0xC1)), (640, 480), id="extended-jpeg"),
        pytest.param(data_url(jpeg(640, 480, marker=0xC2)), (640, 480), id="progressive-jpeg"),
        pytest.param(data_url(jpeg(640, 480, before=APP_SEGMENT * 8)), (640, 480), id="jpeg-behind-500-kb-of-metadata"),
        pytest.param(data_url(jpeg(640, 480, before=b"\xff\xff\xff")), (640, 480), id="jpeg-with-fill-bytes"),
        pytest.param(data_url(jpeg(640, 480, before=b"\xff\x01")), (640, 480), id="jpeg-with-bare-marker"),
        pytest.param(data_url(gif(300, 200), "image/gif"), (300, 200), id="gif"),
    ],
)
@pytest.mark.parametrize("reference", [False, True], ids=["ours", "reference"])
def test_reads_the_size(url: str, expected: tuple[int, int], *, reference: bool) -> None:
    assert size(url, reference=reference) == expected


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("https://example.com/a.png", id="B13-remote"),
        pytest.param("data:image/png;base64,!!!notbase64", id="B24-no-base64"),
        pytest.param(data_url(png(64, 32), "application/pdf"), id="B25-no-image"),
        pytest.param("data:image/png," + "A" * 40, id="no-base64-mark"),
        pytest.param("data:image/png;base64,", id="nothing"),
        pytest.param(data_url(png(0, 32)), id="no-width"),
        pytest.param(data_url(png(64, 32)[:20]), id="truncated-png"),
        pytest.param(data_url(jpeg(64, 32, marker=0xDA)), id="jpeg-scan-without-frame"),
        pytest.param(data_url(b"\xff\xd8\xff\xe0"), id="truncated-jpeg"),
        pytest.param(data_url(b"\xff\xd8" + b"\xff\x01" * 10_000), id="endless-markers"),
        pytest.param(data_url(b"plain text that is no picture at all"), id="text"),
    ],
)
@pytest.mark.parametrize("reference", [False, True], ids=["ours", "reference"])
def test_gives_up_without_an_error(url: str, *, reference: bool) -> None:
    assert size(url, reference=reference) is None


def test_more_formats_than_the_reference() -> None:
    assert size(data_url(webp(800, 600), "image/webp")) == (800, 600)


def test_b23_webp_is_not_read_by_the_reference() -> None:
    assert size(data_url(webp(800, 600), "image/webp"), reference=True) is None


def test_url_safe_alphabet_is_ours_only() -> None:
    content = png(1003, 1019)
    standard, url_safe = b64encode(content).decode(), urlsafe_b64encode(content).decode()
    assert standard != url_safe

    assert size(f"data:image/png;base64,{url_safe}") == (1003, 1019)
    assert size(f"data:image/png;base64,{url_safe}", reference=True) is None


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_wrapped_base64(newline: str) -> None:
    text = b64encode(jpeg(640, 480, before=APP_SEGMENT)).decode()
    wrapped = newline.join(text[i : i + 76] for i in range(0, len(text), 76))

    assert size(f"data:image/jpeg;base64,{wrapped}") == (640, 480)


@given(st.binary(max_size=200), st.sampled_from([b"", b"\xff\xd8", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"RIFF"]), st.booleans())
def test_any_bytes_are_read_or_refused(content: bytes, start: bytes, reference: bool) -> None:
    found = size(data_url(start + content), reference=reference)

    assert found is None or min(found) > 0


@given(st.text(max_size=100))
def test_any_text_after_the_mark_is_read_or_refused(text: str) -> None:
    found = size("data:image/png;base64," + text)

    assert found is None or min(found) > 0


@given(st.integers(1, 65_000), st.integers(1, 65_000))
def test_png_size_is_what_was_written(width: int, height: int) -> None:
    assert size(png_url(width, height)) == (width, height)


def test_field_p12_a_large_picture_is_not_decoded() -> None:
    url = memoryview(data_url(jpeg(4000, 3000, before=APP_SEGMENT * 3) + bytes(7_500_000), "image/jpeg").encode())
    tracemalloc.start()
    try:
        found = image_size(url)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert found == (4000, 3000)
    assert peak < 50_000
