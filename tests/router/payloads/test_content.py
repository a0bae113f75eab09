import tracemalloc

import msgspec
import pytest

from router.payloads.content import (
    AudioPart,
    ContentPart,
    MediaPart,
    PartMember,
    TextPart,
    content_part,
    has_bare_url,
    string_bytes,
    url_bytes,
)

DECODER = msgspec.json.Decoder(PartMember)


def part(text: str) -> ContentPart | None:
    return content_part(DECODER.decode(text.encode()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"type":"text","text":"hé"}', TextPart("hé")),
        ('{"type":"text","text":""}', None),
        ('{"type":"text"}', None),
        ('{"type":"image_url","image_url":{"url":"http://a/b","detail":"high"}}', MediaPart("image", memoryview(b"http://a/b"))),
        ('{"type":"image_url","image_url":"http://a/b"}', MediaPart("image", memoryview(b"http://a/b"))),
        ('{"type":"image_url","image_url":{"url":"http:\\/\\/a\\u00e9"}}', MediaPart("image", memoryview("http://aé".encode()))),
        ('{"type":"image_url"}', MediaPart("image", memoryview(b""))),
        ('{"type":"video_url","video_url":{"url":"v"}}', MediaPart("video", memoryview(b"v"))),
        ('{"type":"audio_url","audio_url":{"url":"a"}}', MediaPart("audio", memoryview(b"a"))),
        ('{"type":"input_audio","input_audio":{"data":"QUJD","format":"wav"}}', AudioPart(memoryview(b"QUJD"), "wav")),
        ('{"type":"input_audio"}', None),
        ('{"type":"thinking","thinking":5}', None),
        ('{"text":"no type"}', None),
    ],
)
def test_part(text: str, expected: ContentPart | None) -> None:
    assert part(text) == expected


def test_field_P12_media_are_neither_copied_nor_decoded() -> None:
    body = b'{"type":"image_url","image_url":{"url":"data:image/png;base64,' + b"QUJD" * 1_000_000 + b'"}}'
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        image = content_part(DECODER.decode(body))
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()

    assert isinstance(image, MediaPart)
    assert len(image.url) == 4_000_022
    assert peak < 200_000


def test_url_that_is_no_string_is_refused() -> None:
    with pytest.raises(msgspec.DecodeError):
        part('{"type":"image_url","image_url":{"url":5}}')


def test_bare_url_is_noticed() -> None:
    assert has_bare_url(DECODER.decode(b'{"type":"video_url","video_url":"v"}'))
    assert not has_bare_url(DECODER.decode(b'{"type":"video_url","video_url":{"url":"v"}}'))


def test_escape_beyond_the_first_piece_is_found() -> None:
    text = "a" * 70_000 + "\n"

    assert bytes(string_bytes(msgspec.Raw(msgspec.json.encode(text)))) == text.encode()


def test_absent_url_is_empty() -> None:
    assert bytes(url_bytes(None)) == b""
