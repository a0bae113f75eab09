"""Sizes of media items and their placeholder tokens, by the rule of the Qwen3-VL family: one token per 32x32 pixels.

Numbers: patch 16, spatial merge 2, `min_pixels` 65,536, `max_pixels` 16,777,216, video sampled at 2 frames a second between 4 and 768
frames in pairs, audio 25 tokens a second.
"""

import math
import re
from dataclasses import dataclass

CELL = 32
MIN_PIXELS, MAX_PIXELS = 65_536, 16_777_216
MARKER_TOKENS = 2
FRAMES_PER_SECOND, MIN_FRAMES, MAX_FRAMES = 2, 4, 768
TOKENS_PER_FRAME_PAIR_HEADER = 8  # time stamp and markers
AUDIO_TOKENS_PER_SECOND = 25

_SIZE_QUERY = re.compile(r"[?&]w=(\d{1,5})&h=(\d{1,5})")
_SIZE_NAME = re.compile(r"(\d{2,5})x(\d{2,5})")
_DURATION = re.compile(r"[?&]d=(\d+(?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class PixelLimits:
    """Bounds of `width * height` after resizing."""

    minimum: int = MIN_PIXELS
    maximum: int = MAX_PIXELS


def resized(width: int, height: int, limits: PixelLimits = PixelLimits()) -> tuple[int, int]:
    """(width, height) that the encoder sees: multiples of 32 within the limits."""
    w, h = CELL * round(width / CELL), CELL * round(height / CELL)
    if w * h > limits.maximum:
        beta = math.sqrt(width * height / limits.maximum)
        w, h = (max(CELL, CELL * math.floor(side / beta / CELL)) for side in (width, height))
    elif w * h < limits.minimum:
        beta = math.sqrt(limits.minimum / (width * height))
        w, h = (CELL * math.ceil(side * beta / CELL) for side in (width, height))
    return w, h


def image_tokens(width: int, height: int, limits: PixelLimits = PixelLimits()) -> int:
    """Placeholder tokens of an image, markers not counted."""
    w, h = resized(width, height, limits)
    return (w // CELL) * (h // CELL)


def image_grid(width: int, height: int, limits: PixelLimits = PixelLimits()) -> list[int]:
    """`image_grid_thw` in patches of 16 pixels."""
    w, h = resized(width, height, limits)
    return [1, h // 16, w // 16]


def video_tokens(width: int, height: int, seconds: float) -> int:
    """Placeholder tokens of a video with its time stamps."""
    frames = min(max(FRAMES_PER_SECOND * seconds, MIN_FRAMES), MAX_FRAMES)
    pairs = round(frames / 2)
    return pairs * (image_tokens(width, height) + TOKENS_PER_FRAME_PAIR_HEADER)


def audio_tokens(seconds: float) -> int:
    """Placeholder tokens of an audio clip."""
    return max(1, math.ceil(AUDIO_TOKENS_PER_SECOND * seconds))


def size_hint(url: str) -> tuple[int, int] | None:
    """(width, height) written in a URL: `?w=1920&h=1080`, or `1920x1080` in its name."""
    found = _SIZE_QUERY.search(url) or _SIZE_NAME.search(url.rsplit("/", 1)[-1])
    return (int(found[1]), int(found[2])) if found and int(found[1]) and int(found[2]) else None


def duration_hint(url: str) -> float | None:
    """Seconds written in a URL: `?d=12.5`."""
    found = _DURATION.search(url)
    return float(found[1]) if found else None
