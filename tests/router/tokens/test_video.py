from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.tokens.video import VideoEstimate, VideoHints, video_hints
from router.wire import VIDEO_DURATION, VIDEO_FPS, VIDEO_RESOLUTION

HD = {"width": 1280, "height": 720}
Q: dict[str, Any] = {
    "defaultResolution": HD,
    "defaultDuration": 10,
    "maxVideoTokens": 12288,
    "tokensPerFrame": {"mode": "dynamic", "dynamic": {"factor": 1024}},
    "frames": {"mode": "sampled", "minFrames": 4, "maxFrames": 768, "sampled": {"sampleFPS": 2, "temporalPatchSize": 2}},
}
E: dict[str, Any] = {
    "defaultResolution": HD,
    "defaultDuration": 10,
    "maxVideoTokens": 12288,
    "tokensPerFrame": {"mode": "static", "static": {"numTokensPerFrame": 280}},
    "frames": {"mode": "strided", "minFrames": 1, "maxFrames": 8, "strided": {"frameStride": 4}},
}
Z: dict[str, Any] = {}


def static(tokens: int) -> dict[str, Any]:
    return {"mode": "static", "static": {"numTokensPerFrame": tokens}}


def sampled(**extra: Any) -> dict[str, Any]:
    return {"mode": "sampled", "sampled": {"sampleFPS": 2}, **extra}


def strided(stride: int, fps: int = 24, **extra: Any) -> dict[str, Any]:
    return {"mode": "strided", "strided": {"defaultSourceFPS": fps, "frameStride": stride}, **extra}


PATCHED = {"mode": "sampled", "minFrames": 4, "sampled": {"sampleFPS": 2, "temporalPatchSize": 2}}


def headers(d: str = "", f: str = "", r: str = "") -> dict[str, str]:
    return {name: value for name, value in ((VIDEO_DURATION, d), (VIDEO_FPS, f), (VIDEO_RESOLUTION, r)) if value}


@pytest.mark.parametrize(
    ("config", "sent", "groups", "per_frame", "tokens"),
    [
        pytest.param(Q, headers(), 10, 900, 9000, id="C01"),
        pytest.param(Q, headers(d="1"), 2, 900, 1800, id="C02"),
        pytest.param(Q, headers(d="2.5"), 2, 900, 1800, id="C03"),
        pytest.param(Q, headers(d="0.4"), 2, 900, 1800, id="C04"),
        pytest.param(Q, headers(d="13"), 13, 900, 11700, id="C05"),
        pytest.param(Q, headers(d="13.6"), 13, 900, 11700, id="C06"),
        pytest.param(Q, headers(d="14"), 14, 900, 12288, id="C07"),
        pytest.param(Q, headers(d="600"), 384, 900, 12288, id="C08"),
        pytest.param(Q, headers(r="640x360"), 10, 225, 2250, id="C09"),
        pytest.param(Q, headers(r="1920x1080"), 10, 2025, 12288, id="C10"),
        pytest.param(Q, headers(d="3.9", r="320x240"), 3, 75, 225, id="C11"),
        pytest.param(Q, headers(d="600", r="32x32"), 384, 1, 384, id="C12"),
        pytest.param(Q, headers(d="5", r="16x16"), 5, 1, 5, id="C13"),
        pytest.param(Q, headers(f="60"), 10, 900, 9000, id="C14"),
        pytest.param(Q, headers(d="400", r="128x128"), 384, 16, 6144, id="C15"),
        pytest.param(E, headers(), 8, 280, 2240, id="C16"),
        pytest.param(E, headers(d="1"), 6, 280, 1680, id="C17"),
        pytest.param(E, headers(d="0.1"), 1, 280, 280, id="C18"),
        pytest.param(E, headers(d="1.3", f="30"), 8, 280, 2240, id="C19"),
        pytest.param(E, headers(d="0.5", f="30"), 3, 280, 840, id="C20"),
        pytest.param(E, headers(d="1", f="25"), 6, 280, 1680, id="C21"),
        pytest.param(Z, headers(), 20, 225, 4500, id="C22"),
        pytest.param(Z, headers(d="3", r="320x240"), 6, 75, 450, id="C23"),
        pytest.param({"maxVideoTokens": 100}, headers(d="3", r="320x240"), 6, 75, 100, id="C24"),
        pytest.param({"maxVideoTokens": 500}, headers(), 20, 225, 500, id="C25"),
        pytest.param({"tokensPerFrame": {"dynamic": {"factor": 2048}}}, headers(), 20, 112, 2240, id="C26"),
        pytest.param(Z, headers(d="0.3"), 0, 225, 1, id="C27"),
        pytest.param({"defaultDuration": 8, "frames": sampled(), "tokensPerFrame": static(10)}, headers(), 16, 10, 160, id="C28"),
        pytest.param(
            {"defaultDuration": 10, "frames": strided(4, maxFrames=16), "tokensPerFrame": static(100)}, headers(), 16, 100, 1600, id="C29"
        ),
        pytest.param(
            {"defaultDuration": 1, "frames": strided(4, minFrames=8), "tokensPerFrame": static(100)}, headers(), 8, 100, 800, id="C30"
        ),
        pytest.param(
            {"defaultResolution": {"width": 640, "height": 480}, "frames": sampled(), "maxVideoTokens": 100000},
            headers(),
            20,
            300,
            6000,
            id="C31",
        ),
        pytest.param({"frames": strided(4, maxFrames=16), "tokensPerFrame": static(256)}, headers(), 16, 256, 4096, id="C32"),
        pytest.param({"frames": strided(2), "tokensPerFrame": static(1)}, headers(d="3", f="30"), 45, 1, 45, id="C33"),
        pytest.param({"frames": PATCHED, "tokensPerFrame": static(1)}, headers(d="10"), 10, 1, 10, id="C34"),
        pytest.param({"frames": PATCHED, "tokensPerFrame": static(1)}, headers(d="1"), 2, 1, 2, id="C35"),
        pytest.param({"frames": sampled(), "tokensPerFrame": static(1)}, headers(d="3", f="30"), 6, 1, 6, id="C36-30"),
        pytest.param({"frames": sampled(), "tokensPerFrame": static(1)}, headers(d="3", f="60"), 6, 1, 6, id="C36-60"),
        pytest.param({"frames": sampled(minFrames=50, maxFrames=8), "tokensPerFrame": static(1)}, headers(d="10"), 8, 1, 8, id="C37"),
        pytest.param(
            {"frames": {"sampled": {"sampleFPS": 2, "temporalPatchSize": 2}}, "tokensPerFrame": static(1)},
            headers(d="1.5"),
            1,
            1,
            1,
            id="C38",
        ),
    ],
)
def test_tokens_of_a_video(config: dict[str, Any], sent: dict[str, str], groups: int, per_frame: int, tokens: int) -> None:
    estimate = decode(VideoEstimate, config)
    hints = video_hints(sent)

    assert estimate.frames.count(hints.duration_seconds or estimate.default_duration, hints.fps) == groups
    assert estimate.frame_tokens(hints) == per_frame
    assert estimate.tokens(hints) == tokens


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        pytest.param(headers(f="30", d="12.5", r="1920x1080"), (1920, 1080, 12.5, 30), id="C50"),
        pytest.param(headers(r="1280X720"), (1280, 720, 0, 0), id="C51"),
        pytest.param(headers(r=" 800 x 600 "), (800, 600, 0, 0), id="C52"),
        pytest.param({VIDEO_FPS: "abc", VIDEO_DURATION: "", VIDEO_RESOLUTION: "not-a-res"}, (0, 0, 0, 0), id="C53"),
        pytest.param(headers(f="-1", d="0", r="0x0"), (0, 0, 0, 0), id="C54"),
        pytest.param(headers(r="1920x"), (0, 0, 0, 0), id="C55"),
        pytest.param(headers(r="640x360x2"), (0, 0, 0, 0), id="C56"),
        pytest.param(headers(r="x480"), (0, 0, 0, 0), id="C57"),
        pytest.param(headers(d="1e1"), (0, 0, 10, 0), id="C58"),
        pytest.param(headers(r="640X360x2"), (0, 0, 0, 0), id="both-signs"),
        pytest.param(headers(d="inf", f="nan"), (0, 0, 0, 0), id="no-finite-number"),
        pytest.param(headers(d="1e999", f="1_0"), (0, 0, 0, 0), id="too-large-and-underscore"),
        pytest.param(headers(r="99999999999999999999x1"), (0, 0, 0, 0), id="absurd-resolution"),
    ],
)
def test_headers(sent: dict[str, str], expected: tuple[int, int, float, float]) -> None:
    hints = video_hints(sent)

    assert (hints.width, hints.height, hints.duration_seconds, hints.fps) == expected


@given(st.floats(0, allow_nan=False, allow_infinity=False), st.floats(0, allow_nan=False, allow_infinity=False), st.integers(0, 10**9))
def test_any_hint_has_a_price(duration: float, fps: float, side: int) -> None:
    hints = VideoHints(width=side, height=side, duration_seconds=duration, fps=fps)

    for config in (Q, E, Z):
        assert decode(VideoEstimate, config).tokens(hints) >= 1


def test_exact_frames_are_not_built_yet() -> None:
    with pytest.raises(ConfigError, match=r"tokensPerFrame.mode.*not built yet"):
        decode(VideoEstimate, {"tokensPerFrame": {"mode": "exact"}})
