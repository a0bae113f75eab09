"""The tokens of a request, a request attribute."""

from dataclasses import dataclass

from router.framework.attributes.key import DataKey

PRODUCER = "token-producer"
BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class MultimodalFeature:
    """One media item inside a prompt."""

    modality: str  # image, video or audio
    hash: str  # identity of the content, lower-case hex
    offset: int  # first placeholder token
    length: int  # placeholder tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One prompt's tokens, packed: four bytes a token, little-endian, as block hashes read them."""

    packed: bytes
    features: tuple[MultimodalFeature, ...] = ()

    @property
    def length(self) -> int:
        """Number of tokens."""
        return len(self.packed) // BYTES_PER_TOKEN

    def token_ids(self) -> list[int]:
        """The tokens as numbers; builds a list, so not for the request path."""
        view = memoryview(self.packed)
        return [int.from_bytes(view[i : i + BYTES_PER_TOKEN], "little") for i in range(0, len(view), BYTES_PER_TOKEN)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizedPrompt:
    """All prompts of a request; several strings of a completions request are several prompts."""

    prompts: tuple[Prompt, ...]
    cache_salt: str = ""
    estimated: bool = True  # False: real token ids, so placeholders of different images are equal

    @property
    def length(self) -> int:
        """Tokens over all prompts."""
        return sum(prompt.length for prompt in self.prompts)

    @property
    def has_media(self) -> bool:
        """Whether any prompt carries a media item."""
        return any(prompt.features for prompt in self.prompts)


def tokenized_prompt(producer: str = PRODUCER) -> DataKey[TokenizedPrompt]:
    """Key of the request attribute."""
    return DataKey("TokenizedPrompt", producer, TokenizedPrompt)
