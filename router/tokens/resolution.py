"""Pixels to tokens, shared by images and video frames."""

from dataclasses import dataclass
from typing import Literal

from router.framework.errors import ConfigError

Mode = Literal["dynamic", "static", "exact"]

_WIDTH, _HEIGHT = 640, 360
_FACTOR = 1024  # pixels a token: 32 x 32, as Qwen3-VL merges its patches


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """Pixels; a dimension that is zero or less falls back on its own to 640 or 360."""

    width: int = _WIDTH
    height: int = _HEIGHT

    def filled(self) -> tuple[int, int]:
        """Width and height to count with."""
        return (self.width if self.width > 0 else _WIDTH, self.height if self.height > 0 else _HEIGHT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dynamic:
    """One token for every `factor` pixels."""

    factor: int = _FACTOR  # zero or less: the default

    def tokens(self, size: tuple[int, int]) -> int:
        """Whole tokens of a picture, at least one."""
        width, height = size
        return max(1, width * height // (self.factor if self.factor > 0 else _FACTOR))


def refuse_exact(mode: Mode) -> None:
    """Raises ConfigError for the mode that is planned but not built."""
    if mode == "exact":
        raise ConfigError("'exact' is not built yet; use 'dynamic' or 'static'", field="mode")
