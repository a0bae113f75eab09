"""Token counts seen on real vLLM, and the rule's bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.tokens import media

SEEN = [
    (8, 8, 64), (64, 64, 64), (96, 64, 70), (128, 64, 72), (256, 256, 64), (320, 240, 80), (512, 512, 256), (640, 480, 300),
    (800, 600, 475), (1024, 768, 768), (1280, 720, 880), (1920, 1080, 2040), (32, 32, 64),
]  # fmt: skip


@pytest.mark.parametrize(("width", "height", "tokens"), SEEN, ids=str)
def test_image_tokens(width: int, height: int, tokens: int) -> None:
    assert media.image_tokens(width, height) == tokens


def test_grid_of_a_720p_image() -> None:
    assert media.image_grid(1280, 720) == [1, 44, 80]


@given(st.integers(1, 20_000), st.integers(1, 20_000))
def test_resized_sides_are_multiples_within_the_upper_limit(width: int, height: int) -> None:
    w, h = media.resized(width, height)

    assert w % 32 == h % 32 == 0
    assert w >= 32
    assert h >= 32
    if max(width, height) / min(width, height) < 200:  # as the processor itself demands
        assert w * h <= media.MAX_PIXELS


def test_limits_can_be_narrowed() -> None:
    assert media.image_tokens(4000, 3000, media.PixelLimits(65_536, 1_048_576)) <= 1024


@pytest.mark.parametrize(("seconds", "pairs"), [(0.1, 2), (10, 10), (10_000, 384)])
def test_video_frames_are_clamped(seconds: float, pairs: int) -> None:
    assert media.video_tokens(640, 360, seconds) == pairs * (media.image_tokens(640, 360) + 8)


@pytest.mark.parametrize(("seconds", "tokens"), [(10, 250), (0.5, 13), (0, 1)])
def test_audio(seconds: float, tokens: int) -> None:
    assert media.audio_tokens(seconds) == tokens


@pytest.mark.parametrize(
    ("url", "size"),
    [
        ("http://h/a.png?w=1920&h=1080", (1920, 1080)),
        ("http://h/p/640x480.jpg", (640, 480)),
        ("http://h/a.png", None),
        ("http://h/00x10.png", None),
    ],
)
def test_size_hints(url: str, size: tuple[int, int] | None) -> None:
    assert media.size_hint(url) == size


def test_duration_hint() -> None:
    assert media.duration_hint("http://h/v.mp4?d=12.5") == 12.5
    assert media.duration_hint("http://h/v.mp4") is None
