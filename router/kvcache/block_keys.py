"""Keys of a prompt's full blocks: chained, so that two prompts share a key exactly as far as they share their beginning.

A key depends on the model, on all tokens up to the block's end, on the media that overlap each block, and on the request's cache
salt. Prompts and events of engines are keyed by the same code; engines' own hashes are never compared with keys.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Literal, Protocol

from xxhash import xxh64_intdigest

from router.framework.attributes.tokenized_prompt import BYTES_PER_TOKEN, MultimodalFeature, Prompt
from router.framework.errors import ConfigError
from router.kvcache.canonical_cbor import array_of, encode, unsigned_numbers
from router.kvcache.fnv import fnv1a_64

DEFAULT_BLOCK_TOKENS = 16  # vLLM's default block size
REMEMBERED_BLOCKS = 65_536  # per generation, two are kept; ten prompts of 100k tokens, about 300 bytes a block

Extras = tuple[str, ...]
Algorithm = Literal["", "cbor-fnv", "xxh64"]

_LENGTH = Struct("<Q")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenProcessor:
    """`tokenProcessorConfig`: how prompts are cut and keyed."""

    block_size_tokens: int = 0  # 0: `blockSize`, else the default
    block_size: int = 0  # deprecated alias
    hash_seed: str = ""
    hash_algorithm: Algorithm = "cbor-fnv"

    def __post_init__(self) -> None:
        """Raise ConfigError for a negative size."""
        for value, field in ((self.block_size_tokens, "blockSizeTokens"), (self.block_size, "blockSize")):
            if value < 0:
                raise ConfigError(f"{value} is negative; give a number of tokens, or 0 for {DEFAULT_BLOCK_TOKENS}", field=field)

    @property
    def block_tokens(self) -> int:
        """Tokens of a block."""
        return self.block_size_tokens or self.block_size or DEFAULT_BLOCK_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptKeys:
    """Keys of one prompt's full blocks, and which of these blocks carry media (ascending positions)."""

    keys: Sequence[int]
    media_blocks: Sequence[int] = ()


class _Scheme(Protocol):
    def root(self, model: str) -> int:
        """What the first block of a model's prompts is chained to."""
        ...

    def key(self, parent: int, block: bytes, extras: Extras) -> int:
        """Key of one block; `block` are its tokens, four bytes each, little-endian."""
        ...


class BlockKeys:
    """Keys under one configuration. Keeps the keys of recent blocks where computing them is costly."""

    def __init__(self, settings: TokenProcessor) -> None:
        self.block_tokens = settings.block_tokens
        if settings.hash_algorithm == "xxh64":
            self._scheme: _Scheme = _Xxh64(settings.hash_seed)
        else:
            self._scheme = _Remembering(_CborFnv(settings.hash_seed, self.block_tokens), REMEMBERED_BLOCKS)

    def root(self, model: str) -> int:
        """What the first block of a model's prompts is chained to."""
        return self._scheme.root(model)

    def chain(self, parent: int, packed: bytes, extras: Mapping[int, Extras] | None = None) -> list[int]:
        """Keys of the full blocks of `packed` (as in `Prompt`) after `parent`; `extras` by position of the block, from 0."""
        key, step = self._scheme.key, self.block_tokens * BYTES_PER_TOKEN
        get = (extras or {}).get
        keys: list[int] = []
        for position, start in enumerate(range(0, len(packed) - step + 1, step)):
            parent = key(parent, packed[start : start + step], get(position, ()))
            keys.append(parent)
        return keys

    def of_prompt(self, model: str, prompt: Prompt, cache_salt: str = "") -> PromptKeys:
        """Keys of a prompt with its media and the salt of its request."""
        blocks = prompt.length // self.block_tokens
        extras = media_extras(prompt.features, block_tokens=self.block_tokens, blocks=blocks)
        media_blocks = sorted(extras)
        if cache_salt and blocks:
            extras[0] = (*extras.get(0, ()), cache_salt)  # behind the media, where vLLM puts it
        return PromptKeys(keys=self.chain(self.root(model), prompt.packed, extras), media_blocks=media_blocks)


def media_extras(features: Sequence[MultimodalFeature], *, block_tokens: int, blocks: int) -> dict[int, Extras]:
    """Hashes of the media that overlap each of the first `blocks` blocks, in the order of their starts."""
    extras: dict[int, Extras] = {}
    for feature in sorted(features, key=lambda feature: feature.offset):
        if feature.length > 0:
            last = (feature.offset + feature.length - 1) // block_tokens
            for position in range(feature.offset // block_tokens, min(last + 1, blocks)):
                extras[position] = (*extras.get(position, ()), feature.hash)
    return extras


class _CborFnv:
    """FNV-1a over canonical CBOR of [parent, tokens, extras]."""

    def __init__(self, seed: str, block_tokens: int) -> None:
        self._init = fnv1a_64(seed.encode())
        self._unpack = Struct(f"<{block_tokens}I").unpack

    def root(self, model: str) -> int:
        return fnv1a_64(encode([self._init, None, model]))

    def key(self, parent: int, block: bytes, extras: Extras) -> int:
        media = encode([{"Hash": extra} for extra in extras] if extras else None)
        return fnv1a_64(array_of(3, (encode(parent), unsigned_numbers(self._unpack(block)), media)))


class _Xxh64:
    """XXH64 over parent, tokens and extras, lengths in front of the extras."""

    def __init__(self, seed: str) -> None:
        self._init = xxh64_intdigest(seed.encode())

    def root(self, model: str) -> int:
        return self.key(self._init, b"", (model,))

    def key(self, parent: int, block: bytes, extras: Extras) -> int:
        content = _LENGTH.pack(parent) + block
        for extra in extras:
            text = extra.encode()
            content += _LENGTH.pack(len(text)) + text
        return xxh64_intdigest(content)


class _Remembering:
    """Remembers recent keys: a prompt mostly begins as an earlier one did, and its blocks come back as events of the engine.

    Two generations of at most `capacity` blocks; when the younger is full the older is dropped.
    """

    def __init__(self, scheme: _Scheme, capacity: int) -> None:
        self._scheme, self._capacity = scheme, capacity
        self._young: dict[tuple[int, bytes, Extras], int] = {}
        self._old: dict[tuple[int, bytes, Extras], int] = {}

    def root(self, model: str) -> int:
        return self._scheme.root(model)

    def key(self, parent: int, block: bytes, extras: Extras) -> int:
        given = (parent, block, extras)
        known = self._young.get(given)
        if known is None:
            known = self._old.get(given)
            if known is None:
                known = self._scheme.key(parent, block, extras)
            if len(self._young) >= self._capacity:
                self._old, self._young = self._young, {}
            self._young[given] = known
        return known
