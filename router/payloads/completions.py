"""Completions."""

from dataclasses import dataclass

import msgspec

from router.payloads.json_body import NOTHING, JsonPayload, decode_body, is_true, output_cap
from router.payloads.prompt import Prompts, read_prompts

REFUSAL = "invalid completions request: must have prompt field"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionsPayload(JsonPayload):
    """A completions body; several texts are several prompts."""

    prompts: Prompts
    cache_salt: str = ""


class _Completions(msgspec.Struct, frozen=True):
    model: str | None = None
    stream: msgspec.Raw = NOTHING
    prompt: msgspec.Raw = NOTHING
    cache_salt: str | None = None
    max_tokens: msgspec.Raw = NOTHING


_DECODER = msgspec.json.Decoder(_Completions)


def parse_completions(body: bytes) -> CompletionsPayload:
    """Read a completions body; raises RequestError(BadRequest)."""
    completions = decode_body(_DECODER, body, REFUSAL)
    return CompletionsPayload(
        model=completions.model or "",
        stream=is_true(completions.stream),
        max_output_tokens=output_cap((completions.max_tokens,)),
        raw=body,
        prompts=read_prompts(completions.prompt, REFUSAL),
        cache_salt=completions.cache_salt or "",
    )
