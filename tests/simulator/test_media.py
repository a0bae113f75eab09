from typing import Any

import pytest

from simulator.errors import ApiError
from simulator.media import MediaItem, RawItem, decode_data_url, look, raw_item
from tests.support.pictures import data_url as as_data_url
from tests.support.pictures import jpeg, png_url
from tests.support.simulated import options, picture


class Web:
    """Answers every URL with one body."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    async def fetch(self, url: str) -> bytes:
        assert url
        return self.content


async def seen(url: str, *flags: str, kind: str = "image", uuid: str = "", web: Web | None = None, **kwargs: Any) -> MediaItem:
    return await look(RawItem(kind, url, uuid), options(*flags), web, kwargs)


async def test_P24_an_images_size_is_read_from_its_header_alone() -> None:
    assert (await seen(png_url(1280, 720))).tokens == 880
    assert (await seen(as_data_url(jpeg(640, 480), "image/jpeg"))).tokens == 300


async def test_unfetched_urls_use_hint_or_default() -> None:
    assert (await seen("http://h/640x480.jpg")).tokens == 300
    assert (await seen("http://h/a.jpg")).tokens == 880
    assert (await seen("http://h/a.jpg", "--sim-default-image-size", "640x480")).tokens == 300


async def test_a_fetched_url_has_its_contents_size_and_identity() -> None:
    item = await seen("http://h/a", web=Web(picture("red")))

    assert item.tokens == 64
    assert item.content == picture("red")
    assert item.hash == (await seen("http://h/b", web=Web(picture("red")))).hash


async def test_identity_depends_on_content_model_kind_and_options_only() -> None:
    red, blue = as_data_url(picture("red")), as_data_url(picture("blue"))
    hashes = {(await seen(red)).hash, (await seen(blue)).hash, (await seen(red, min_pixels=1024)).hash}

    assert len(hashes) == 3
    assert (await seen(red)).hash in hashes
    assert (await seen(red, uuid="mine")).hash == "mine"


async def test_processor_options_change_the_price() -> None:
    assert (await seen(png_url(1280, 720), max_pixels=262_144)).tokens <= 256
    assert (await seen(png_url(1280, 720), "--mm-processor-kwargs", '{"size":{"longest_edge":262144}}')).tokens <= 256


async def test_video_and_audio_durations() -> None:
    wav = b"RIFF" + bytes(24) + (1000).to_bytes(4, "little") + bytes(12) + bytes(2000)

    assert (await seen("http://h/v.mp4?d=4", kind="video")).tokens < (await seen("http://h/v.mp4", kind="video")).tokens
    assert (await seen(as_data_url(wav, "audio/wav"), kind="audio")).tokens == 50
    assert (await seen("http://h/a.mp3", kind="audio")).tokens == 250


@pytest.mark.parametrize(
    ("url", "status", "words"),
    [
        ("data:image/png;base64,!!!", 400, "Non-base64 digit found"),
        (as_data_url(b"no image at all"), 400, "Failed to load image"),
        ("ftp://h/a.png", 400, "The URL must be either a HTTP, data or file URL."),
        ("file:///etc/hosts", 500, "Cannot load local files without `--allowed-local-media-path`."),
        ("data:nothing", 400, "Failed to load image"),
    ],
)
async def test_refusals_are_vllms(url: str, status: int, words: str) -> None:
    with pytest.raises(ApiError) as caught:
        await seen(url)

    assert caught.value.status == status
    assert caught.value.message.startswith(words)


async def test_other_domains_are_refused() -> None:
    with pytest.raises(ApiError, match=r"allowed domains: a\.example"):
        await seen("http://b.example/x.png", "--allowed-media-domains", "a.example")


def test_plain_data_urls_are_unquoted() -> None:
    assert decode_data_url("data:,a%20b") == b"a b"


@pytest.mark.parametrize(
    ("part", "made"),
    [
        ({"type": "image_url", "image_url": {"url": "http://h/a"}, "uuid": "u"}, RawItem("image", "http://h/a", "u")),
        ({"type": "video_url", "video_url": "http://h/v"}, RawItem("video", "http://h/v", "")),
        ({"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}}, RawItem("audio", "data:audio/mp3;base64,AA==", "")),
        ({"type": "image_url", "image_url": None, "uuid": "u"}, RawItem("image", "", "u")),
    ],
)
def test_parts(part: dict[str, Any], made: RawItem) -> None:
    assert raw_item(part, 0) == made


def test_a_part_without_a_body_is_refused() -> None:
    with pytest.raises(ApiError, match="content part 3 has no image_url"):
        raw_item({"type": "image_url"}, 3)


@pytest.mark.parametrize(("rule", "tokens"), [("rule", 880), ("fixed:256", 256), ("factor:768", 1200)])
async def test_other_models_price_images_otherwise(rule: str, tokens: int) -> None:
    assert (await seen("http://h/1280x720.jpg", "--sim-media-tokens", rule)).tokens == tokens
