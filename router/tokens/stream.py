"""Builds the pseudo tokens of one prompt: four bytes of text a token, and a repeated placeholder for each media item.

The placeholder is derived from the item's content, so that prompts differ from the first block that an image covers.
"""

import struct
from collections.abc import Sequence

from xxhash import xxh64_intdigest

from router.framework.attributes.tokenized_prompt import BYTES_PER_TOKEN, MultimodalFeature, Prompt

# Sizes come from image headers and client headers that anyone can write; placeholders are memory. A 32,768 x 32,768 image is
# 1,048,576 tokens at the default factor.
MAX_ITEM_TOKENS = 1 << 20
MAX_MEDIA_TOKENS = 4 << 20

_LOW_32_BITS = 0xFFFFFFFF


class TokenStream:
    """Takes a prompt's text and media in order; `prompt` ends it."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        self._features: list[MultimodalFeature] = []
        self._media_left = MAX_MEDIA_TOKENS

    def text(self, content: bytes) -> None:
        """Append text; pieces run together without separator."""
        if content:
            self._pieces.append(content)
            self._size += len(content)

    def media(self, modality: str, content: bytes | memoryview, tokens: int) -> None:
        """Append an item worth `tokens` (at least one), identified by `content`."""
        self._pad()
        tokens = max(min(tokens, MAX_ITEM_TOKENS, self._media_left), 1)
        self._media_left -= tokens
        digest = xxh64_intdigest(content)
        placeholder = (digest & _LOW_32_BITS).to_bytes(BYTES_PER_TOKEN, "little")
        offset = self._size // BYTES_PER_TOKEN
        self._features.append(MultimodalFeature(modality=modality, hash=f"{digest:x}", offset=offset, length=tokens))
        self._pieces.append(placeholder * tokens)
        self._size += BYTES_PER_TOKEN * tokens

    def prompt(self) -> Prompt:
        """The tokens so far, the last one padded with zero bytes."""
        self._pad()
        return Prompt(packed=b"".join(self._pieces), features=tuple(self._features))

    def _pad(self) -> None:
        missing = -self._size % BYTES_PER_TOKEN
        if missing:
            self._pieces.append(bytes(missing))
            self._size += missing


def packed_token_ids(token_ids: Sequence[int]) -> bytes:
    """Real token ids in the packed form. Each must be in [0, 2^32)."""
    return struct.pack(f"<{len(token_ids)}I", *token_ids)


def text_prompt(content: bytes) -> Prompt:
    """The prompt of one text."""
    stream = TokenStream()
    stream.text(content)
    return stream.prompt()
