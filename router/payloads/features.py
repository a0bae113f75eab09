"""Media items that a client with its own tokenizer has already placed among the token ids."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from router.framework.attributes.tokenized_prompt import MultimodalFeature
from router.payloads.json_body import decode_member, present


class _Placeholder(msgspec.Struct, frozen=True):
    offset: int = 0
    length: int = 0


class _Features(msgspec.Struct, frozen=True):
    mm_hashes: dict[str, Sequence[str | None] | None] | None = None
    mm_placeholders: dict[str, Sequence[_Placeholder] | None] | None = None


_DECODER = msgspec.json.Decoder(_Features)


def read_features(member: msgspec.Raw, tokens: int, refusal: str) -> tuple[MultimodalFeature, ...]:
    """`features` of a body with `tokens` token ids: hashes and placeholders by modality, paired up to the shorter list, by offset.

    Raises RequestError(BadRequest) with `refusal` where it has another shape.
    """
    if not present(member):
        return ()
    read = decode_member(_DECODER, member, refusal)
    places: Mapping[str, Sequence[_Placeholder] | None] = read.mm_placeholders or {}
    found: list[MultimodalFeature] = []
    for modality, hashes in (read.mm_hashes or {}).items():
        for digest, place in zip(hashes or (), places.get(modality) or (), strict=False):
            found.append(MultimodalFeature(modality=modality, hash=digest or "", offset=place.offset, length=place.length))
    return placed(found, tokens)


def placed(features: Iterable[MultimodalFeature], tokens: int) -> tuple[MultimodalFeature, ...]:
    """The features by offset.

    Those without identity, not among the tokens, or begun within another are left out: no media item is like that, and work on each
    token that an item covers stays bounded by the tokens.
    """
    kept: list[MultimodalFeature] = []
    end = 0  # of the items kept
    for each in sorted(features, key=lambda feature: feature.offset):
        if each.hash and each.offset >= end and 0 < each.length <= tokens - each.offset:
            kept.append(each)
            end = each.offset + each.length
    return tuple(kept)
