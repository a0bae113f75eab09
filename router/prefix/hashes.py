"""Chained hashes of a prompt's blocks: two prompts share a hash exactly as far as they share their beginning."""

from collections.abc import Sequence
from struct import Struct

from xxhash import xxh64_intdigest

from router.framework.attributes.tokenized_prompt import BYTES_PER_TOKEN, MultimodalFeature

_PAIR = Struct("<QQ")


def chain_seed(model: str, cache_salt: str = "") -> int:
    """The value before the first block; another model or salt makes all hashes differ."""
    return xxh64_intdigest((model + cache_salt).encode())


def block_hashes(
    packed: bytes, *, seed: int, block_tokens: int, max_blocks: int = 0, features: Sequence[MultimodalFeature] = ()
) -> list[int]:
    """One 64-bit hash for each block of `block_tokens` tokens, the last one possibly partial; `max_blocks` 0: all of them.

    `features` is for real token ids, whose placeholders say nothing about the image: their hashes are mixed into the blocks they cover.
    """
    step = block_tokens * BYTES_PER_TOKEN
    end = min(len(packed), max_blocks * step) if max_blocks > 0 else len(packed)
    pack, digest = _PAIR.pack, xxh64_intdigest
    if features:
        return _mixed(packed, end, seed, block_tokens, features)
    hashes: list[int] = []
    append = hashes.append
    for start in range(0, end, step):
        seed = digest(pack(digest(packed[start : start + step]), seed))
        append(seed)
    return hashes


def _mixed(packed: bytes, end: int, seed: int, block_tokens: int, features: Sequence[MultimodalFeature]) -> list[int]:
    step = block_tokens * BYTES_PER_TOKEN
    taints: dict[int, bytes] = {}
    for feature in features:
        if feature.length > 0:
            for block in range(feature.offset // block_tokens, (feature.offset + feature.length - 1) // block_tokens + 1):
                taints[block] = taints.get(block, b"") + f"|{feature.hash}@{feature.offset}".encode()
    hashes: list[int] = []
    for block, start in enumerate(range(0, end, step)):
        content = packed[start : start + step] + taints.get(block, b"")
        seed = xxh64_intdigest(_PAIR.pack(xxh64_intdigest(content), seed))
        hashes.append(seed)
    return hashes
