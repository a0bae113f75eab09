"""Embeddings."""

from dataclasses import dataclass

import msgspec

from router.payloads.json_body import NOTHING, JsonPayload, decode_body, is_true
from router.payloads.prompt import Prompts, read_prompts

REFUSAL = "invalid embeddings request: must have input field"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingsPayload(JsonPayload):
    """An embeddings body."""

    input: Prompts
    input_json: memoryview  # the same as it stands in the body
    cache_salt: str = ""


class _Embeddings(msgspec.Struct, frozen=True):
    model: str | None = None
    stream: msgspec.Raw = NOTHING
    input: msgspec.Raw = NOTHING
    cache_salt: str | None = None


_DECODER = msgspec.json.Decoder(_Embeddings)


def parse_embeddings(body: bytes) -> EmbeddingsPayload:
    """Read an embeddings body; raises RequestError(BadRequest)."""
    embeddings = decode_body(_DECODER, body, REFUSAL)
    return EmbeddingsPayload(
        model=embeddings.model or "",
        stream=is_true(embeddings.stream),
        max_output_tokens=None,
        raw=body,
        input=read_prompts(embeddings.input, REFUSAL),
        input_json=memoryview(embeddings.input),
        cache_salt=embeddings.cache_salt or "",
    )
