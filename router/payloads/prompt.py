"""The `prompt` or `input` of completions and embeddings: texts or token ids."""

from dataclasses import dataclass
from typing import Annotated

import msgspec

from router.payloads.json_body import decode_member, present, refuse

TokenId = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]

_TEXT = msgspec.json.Decoder(str)
_TEXTS = msgspec.json.Decoder(list[str])
_TOKEN_IDS = msgspec.json.Decoder(list[TokenId])


@dataclass(frozen=True, slots=True)
class Prompts:
    """Either texts, one per prompt, or the token ids of one prompt; the other is empty."""

    texts: tuple[str, ...] = ()
    token_ids: tuple[int, ...] = ()


def read_prompts(member: msgspec.Raw, refusal: str) -> Prompts:
    """Read a string, strings or token ids, without mixing; raises RequestError(BadRequest) with `refusal`."""
    if not present(member):
        raise refuse(refusal)
    match bytes(memoryview(member)[:1]):
        case b'"':
            prompts = Prompts(texts=(decode_member(_TEXT, member, refusal),))
        case b"[" if _starts_with_text(member):
            prompts = Prompts(texts=tuple(decode_member(_TEXTS, member, refusal)))
        case _:
            prompts = Prompts(token_ids=tuple(decode_member(_TOKEN_IDS, member, refusal)))
    if not prompts.token_ids and not any(prompts.texts):
        raise refuse(refusal)
    return prompts


def _starts_with_text(member: msgspec.Raw) -> bool:
    return bytes(member).lstrip(b"[ \t\r\n").startswith(b'"')
