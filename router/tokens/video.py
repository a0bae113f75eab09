"""What a video costs. Its bytes are never looked at; duration, rate and resolution come from request headers or defaults."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from router.framework.parameters import spelled
from router.tokens.resolution import Dynamic, Mode, Resolution, refuse_exact
from router.wire import VIDEO_DURATION, VIDEO_FPS, VIDEO_RESOLUTION

_SECONDS = 10.0
_SAMPLE_FPS = 2.0
_SOURCE_FPS = 24.0
_MAX_FRAMES = 1_000_000_000  # keeps absurd headers inside whole numbers

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"\+?\d{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoHints:
    """What a client said about the videos of its request; zero: nothing usable."""

    width: int = 0
    height: int = 0
    duration_seconds: float = 0.0
    fps: float = 0.0


def video_hints(headers: Mapping[str, str]) -> VideoHints:
    """Read the three video headers. A value that does not parse counts as absent."""
    width, height = _resolution(headers.get(VIDEO_RESOLUTION, ""))
    return VideoHints(
        width=width, height=height, duration_seconds=_positive(headers.get(VIDEO_DURATION, "")), fps=_positive(headers.get(VIDEO_FPS, ""))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticFrame:
    """The same number of tokens for every frame."""

    num_tokens_per_frame: int = 1  # zero or less: 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameTokens:
    """`estimate.video.tokensPerFrame`."""

    mode: Mode = "dynamic"
    dynamic: Dynamic = field(default_factory=Dynamic)
    static: StaticFrame = field(default_factory=StaticFrame)

    def __post_init__(self) -> None:
        refuse_exact(self.mode)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """Frames taken at a fixed rate, then merged in groups."""

    sample_fps: float = spelled("sampleFPS", _SAMPLE_FPS)
    temporal_patch_size: int = 0  # frames a group; one or less: no merging


@dataclass(frozen=True, slots=True, kw_only=True)
class Strided:
    """Every n-th frame of the source."""

    default_source_fps: float = spelled("defaultSourceFPS", _SOURCE_FPS)
    frame_stride: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """`estimate.video.frames`: how many frames the model's processor looks at."""

    mode: Literal["sampled", "strided"] = "sampled"
    min_frames: int = 0  # zero or less: no minimum
    max_frames: int = 0
    sampled: Sampled = field(default_factory=Sampled)
    strided: Strided = field(default_factory=Strided)

    def count(self, duration_seconds: float, fps: float) -> int:
        """Frames, or groups of merged frames."""
        if self.mode == "strided":
            rate = fps if fps > 0 else self.strided.default_source_fps if self.strided.default_source_fps > 0 else _SOURCE_FPS
            return self._clamp(_frames(duration_seconds, rate) // max(self.strided.frame_stride, 1))
        rate = self.sampled.sample_fps if self.sampled.sample_fps > 0 else _SAMPLE_FPS
        return self._clamp(_frames(duration_seconds, rate)) // max(self.sampled.temporal_patch_size, 1)

    def _clamp(self, frames: int) -> int:
        """The minimum first, so that the maximum wins."""
        frames = max(frames, self.min_frames)
        return min(frames, self.max_frames) if self.max_frames > 0 else frames


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoEstimate:
    """`estimate.video` of the token producer."""

    default_resolution: Resolution = field(default_factory=Resolution)
    default_duration: float = _SECONDS  # seconds; zero or less: 10
    max_video_tokens: int = 0  # zero or less: no cap
    tokens_per_frame: FrameTokens = field(default_factory=FrameTokens)
    frames: Frames = field(default_factory=Frames)

    def tokens(self, hints: VideoHints) -> int:
        """Tokens of one video, at least one."""
        duration = hints.duration_seconds if hints.duration_seconds > 0 else self.default_duration
        total = self.frames.count(duration if duration > 0 else _SECONDS, hints.fps) * self.frame_tokens(hints)
        return max(min(total, self.max_video_tokens) if self.max_video_tokens > 0 else total, 1)

    def frame_tokens(self, hints: VideoHints) -> int:
        """Tokens of one frame."""
        if self.tokens_per_frame.mode == "static":
            return max(self.tokens_per_frame.static.num_tokens_per_frame, 1)
        size = (hints.width, hints.height) if hints.width > 0 and hints.height > 0 else self.default_resolution.filled()
        return self.tokens_per_frame.dynamic.tokens(size)


def _frames(duration_seconds: float, fps: float) -> int:
    return math.trunc(min(duration_seconds * fps, _MAX_FRAMES))


def _positive(text: str) -> float:
    value = float(text) if _NUMBER.fullmatch(text) else 0.0
    return value if 0 < value < math.inf else 0.0


def _resolution(text: str) -> tuple[int, int]:
    """`WIDTHxHEIGHT`; (0, 0) unless both are whole numbers above zero."""
    width, _, height = text.replace("X", "x", 1).partition("x") if "x" not in text.partition("X")[0] else text.partition("x")
    width, height = width.strip(), height.strip()
    if not (_WHOLE.fullmatch(width) and _WHOLE.fullmatch(height)):
        return (0, 0)
    size = (int(width), int(height))
    return size if min(size) > 0 else (0, 0)
