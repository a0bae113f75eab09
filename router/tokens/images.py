"""What an image costs."""

from dataclasses import dataclass, field

from router.framework.parameters import spelled
from router.tokens.image_header import encoded_size, image_size
from router.tokens.resolution import Dynamic, Mode, Resolution, refuse_exact


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticImage:
    """The same number of tokens for every image."""

    static_token: int = spelled("staticToken", 1)  # zero or less: 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageEstimate:
    """`estimate.image` of the token producer."""

    mode: Mode = "dynamic"
    default_resolution: Resolution = field(default_factory=Resolution)  # for images whose size cannot be read
    dynamic: Dynamic = field(default_factory=Dynamic)
    static: StaticImage = field(default_factory=StaticImage)

    def __post_init__(self) -> None:
        refuse_exact(self.mode)

    def tokens(self, url: memoryview, *, reference: bool = False) -> int:
        """Tokens of the image behind `url`. Only data URLs carry their size; nothing is fetched."""
        return self._static() or self._sized(image_size(url, reference=reference))

    def inline_tokens(self, text: memoryview, *, reference: bool = False) -> int:
        """Tokens of the image in base64 text."""
        return self._static() or self._sized(encoded_size(text, reference=reference))

    def _static(self) -> int:
        """Zero unless the mode is static."""
        return max(self.static.static_token, 1) if self.mode == "static" else 0

    def _sized(self, size: tuple[int, int] | None) -> int:
        return self.dynamic.tokens(size or self.default_resolution.filled())
