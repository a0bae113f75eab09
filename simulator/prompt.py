"""A prompt as the engine sees it: token ids, and spans of placeholders with the media behind them."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from simulator.media import MediaItem
from simulator.tokens import text

PADS = {"image": text.IMAGE_PAD, "video": text.VIDEO_PAD, "audio": text.AUDIO_PAD}


@dataclass(frozen=True, slots=True)
class Span:
    """Placeholders of one item: `item.tokens` of them from `offset` on."""

    offset: int
    item: MediaItem


@dataclass(slots=True)
class Prompt:
    """Built piece by piece."""

    tokens: list[int] = field(default_factory=list[int])
    spans: list[Span] = field(default_factory=list[Span])

    def add_text(self, words: str, vocabulary: text.Detokenizer) -> None:
        """Append the tokens of a text."""
        self.tokens.extend(vocabulary.learn(words))

    def add_special(self, *ids: int) -> None:
        """Append special tokens."""
        self.tokens.extend(ids)

    def add_media(self, item: MediaItem) -> None:
        """Append an item between its markers."""
        self.tokens.append(text.VISION_START)
        self.spans.append(Span(len(self.tokens), item))
        self.tokens.extend([PADS[item.kind]] * item.tokens)
        self.tokens.append(text.VISION_END)

    @property
    def items(self) -> list[MediaItem]:
        """All media items, in order."""
        return [span.item for span in self.spans]

    def extras(self, start: int, end: int) -> list[str]:
        """What the tokens of a block do not say: hash and relative offset of every item that overlaps it."""
        position = max(0, bisect_right(self.spans, start, key=lambda span: span.offset) - 1)
        found: list[str] = []
        for span in self.spans[position:]:
            if span.offset >= end:
                break
            if span.offset + span.item.tokens > start:
                found.append(f"{span.item.hash}@{span.offset - start}")
        return found


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a message: text, or a media item already looked at."""

    text: str = ""
    item: MediaItem | None = None


def from_messages(messages: Sequence[tuple[str, Sequence[Part]]], vocabulary: text.Detokenizer, *, generation_prompt: bool) -> Prompt:
    """The chat template applied: `<|im_start|>role`, content, `<|im_end|>` for each message."""
    prompt = Prompt()
    for role, parts in messages:
        prompt.add_special(text.IM_START)
        prompt.add_text(f"{role}\n", vocabulary)
        for part in parts:
            if part.item is None:
                prompt.add_text(part.text, vocabulary)
            else:
                prompt.add_media(part.item)
        prompt.add_special(text.IM_END)
        prompt.add_text("\n", vocabulary)
    if generation_prompt:
        prompt.add_special(text.IM_START)
        prompt.add_text("assistant\n", vocabulary)
    return prompt
