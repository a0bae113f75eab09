"""A tokenizer without a vocabulary file: deterministic, about as dense as a real one for English text.

Pieces are words with the blank before them, runs of blanks and single other characters; a word counts one token per started four
characters, and a token's id is a hash of its characters folded into the vocabulary.
"""

import re
from collections.abc import Iterable
from zlib import crc32

VOCABULARY = 151_643  # ids from here on are special tokens
IM_START, IM_END = 151_644, 151_645
VISION_START, VISION_END, IMAGE_PAD, VIDEO_PAD, AUDIO_PAD = 151_652, 151_653, 151_655, 151_656, 151_646
CHARACTERS_PER_TOKEN = 5  # at most, so a text has at least len/5 tokens

_PIECE = re.compile(r" ?\w{1,4}|[^\S\n]{1,4}|\n|[^\w\s]")


def split(text: str) -> list[str]:
    """Pieces of `text`, in order; joined they give the text back but for exotic line breaks."""
    return _PIECE.findall(text)


def encode(text: str) -> list[int]:
    """Token ids."""
    return [crc32(piece.encode()) % VOCABULARY for piece in split(text)]


def at_least(text: str) -> int:
    """A lower bound of the number of tokens, without tokenizing."""
    return -(-len(text) // CHARACTERS_PER_TOKEN) if text.strip() else 0


class Detokenizer:
    """Turns ids this server has handed out back into text; an id never seen becomes a placeholder word."""

    def __init__(self) -> None:
        self._pieces: dict[int, str] = {}

    def learn(self, text: str) -> list[int]:
        """Ids of `text`, remembered."""
        ids: list[int] = []
        for piece in split(text):
            number = crc32(piece.encode()) % VOCABULARY
            self._pieces[number] = piece
            ids.append(number)
        return ids

    def text(self, ids: Iterable[int]) -> str:
        """The text of `ids`."""
        return "".join(self._pieces.get(number, f"<{number}>") for number in ids)
