from typing import Any

import pytest

from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.tokens.images import ImageEstimate
from tests.support.pictures import data_url, png, png_url, webp

G: dict[str, Any] = {"mode": "dynamic", "defaultResolution": {"width": 1280, "height": 720}, "dynamic": {"factor": 1024}}
Z: dict[str, Any] = {}
S280: dict[str, Any] = {"mode": "static", "static": {"staticToken": 280}}
REMOTE = "https://example.com/a.png"


@pytest.mark.parametrize(
    ("config", "url", "tokens"),
    [
        pytest.param(G, png_url(640, 480), 300, id="B01"),
        pytest.param(G, png_url(1280, 720), 900, id="B02"),
        pytest.param(G, png_url(1920, 1080), 2025, id="B03"),
        pytest.param(G, png_url(1024, 1024), 1024, id="B04"),
        pytest.param(G, png_url(4096, 4096), 16384, id="B05"),
        pytest.param(G, png_url(7680, 4320), 32400, id="B06"),
        pytest.param(G, png_url(64, 32), 2, id="B07"),
        pytest.param(G, png_url(1, 1), 1, id="B08"),
        pytest.param(G, png_url(31, 33), 1, id="B09"),
        pytest.param(G, png_url(512, 511), 255, id="B10"),
        pytest.param(G, png_url(100, 100), 9, id="B11"),
        pytest.param(G, png_url(336, 336), 110, id="B12"),
        pytest.param(G, REMOTE, 900, id="B13"),
        pytest.param(Z, REMOTE, 225, id="B14"),
        pytest.param({"dynamic": {"factor": 2048}}, REMOTE, 112, id="B15"),
        pytest.param({"defaultResolution": {"width": 1024, "height": 1024}}, REMOTE, 1024, id="B16"),
        pytest.param({"defaultResolution": {"width": 1280, "height": 0}}, REMOTE, 450, id="B17"),
        pytest.param({"defaultResolution": {"width": 0, "height": 720}}, REMOTE, 450, id="B18"),
        pytest.param({**G, "dynamic": {"factor": 784}}, REMOTE, 1175, id="B19"),
        pytest.param(S280, png_url(640, 480), 280, id="B20-data"),
        pytest.param(S280, REMOTE, 280, id="B20-remote"),
        pytest.param({"mode": "static", "static": {"staticToken": 7}}, png_url(64, 32), 7, id="B21"),
        pytest.param({"mode": "static"}, png_url(64, 32), 1, id="B22"),
        pytest.param(G, data_url(webp(64, 32), "image/webp"), 900, id="B23"),
        pytest.param(G, "data:image/png;base64,!!!notbase64", 900, id="B24"),
        pytest.param(G, data_url(png(64, 32), "application/pdf"), 900, id="B25"),
        pytest.param(G, data_url(png(64, 32), "image/jpeg"), 2, id="B26"),
        pytest.param(G, "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAA+gAAAK8CAIAAADzqQLm", 683, id="B30"),
        pytest.param(G, "data:image/gif;base64,R0lGODlhLAHIAAAAADs=", 58, id="B31"),
        pytest.param(G, "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD/wAARCAHgAoADASIAAhEBAxEB/9k=", 300, id="B32"),
        pytest.param(
            G,
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
            1,
            id="B33",
        ),
        pytest.param({"dynamic": {"factor": -5}}, REMOTE, 225, id="factor-below-zero-is-the-default"),
    ],
)
def test_tokens_as_the_reference_counts(config: dict[str, Any], url: str, tokens: int) -> None:
    estimate = decode(ImageEstimate, config)

    assert estimate.tokens(memoryview(url.encode()), reference=True) == tokens


def test_webp_is_priced_by_its_size() -> None:
    estimate = decode(ImageEstimate, G)

    assert estimate.tokens(memoryview(data_url(webp(640, 480), "image/webp").encode())) == 300


@pytest.mark.parametrize(
    ("size", "tokens"),
    [((1, 1), 1), ((64, 64), 4), ((224, 224), 49), ((1280, 720), 900), ((3840, 2160), 8100), ((8000, 6000), 46875), ((4000, 10), 39)],
    ids=str,
)
def test_field_p14_default_mode_equals_the_guides_formula(size: tuple[int, int], tokens: int) -> None:
    assert decode(ImageEstimate, G).tokens(memoryview(png_url(*size).encode())) == tokens


@pytest.mark.parametrize(("mode", "text"), [("exact", "not built yet"), ("dynamik", "'dynamic', 'static', 'exact'")])
def test_a_mode_that_cannot_be_used_is_named(mode: str, text: str) -> None:
    with pytest.raises(ConfigError, match="mode") as raised:
        decode(ImageEstimate, {"mode": mode})

    assert text in str(raised.value)


@pytest.mark.parametrize(("config", "tokens"), [(G, 300), (S280, 280)], ids=["dynamic", "static"])
def test_base64_text_without_url(config: dict[str, Any], tokens: int) -> None:
    text = memoryview(png_url(640, 480).partition("base64,")[2].encode())

    assert decode(ImageEstimate, config).inline_tokens(text) == tokens


def test_unreadable_base64_text_has_the_default_size() -> None:
    assert decode(ImageEstimate, G).inline_tokens(memoryview(b"!!!!")) == 900
