"""Bodies that carry token ids: vLLM's `/inference/v1/generate` and SGLang's `/generate`."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from router.framework.attributes.tokenized_prompt import MultimodalFeature
from router.payloads.features import read_features
from router.payloads.json_body import NOTHING, JsonPayload, decode_body, decode_member, is_true, output_cap, present, refuse
from router.payloads.prompt import Prompts, TokenId, read_prompts

REFUSAL = "invalid generate request: must have token_ids field"
SGLANG_REFUSAL = "invalid generate request: must have input_ids field"


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratePayload(JsonPayload):
    """A generate body. Media items are those of the only prompt."""

    prompts: tuple[Prompts, ...]
    features: tuple[MultimodalFeature, ...] = ()
    cache_salt: str = ""


class _Generate(msgspec.Struct, frozen=True):
    model: str | None = None
    stream: msgspec.Raw = NOTHING
    token_ids: tuple[TokenId, ...] | None = None
    features: msgspec.Raw = NOTHING
    cache_salt: str | None = None
    sampling_params: msgspec.Raw = NOTHING


class _SglangGenerate(msgspec.Struct, frozen=True):
    stream: msgspec.Raw = NOTHING
    input_ids: msgspec.Raw = NOTHING
    text: msgspec.Raw = NOTHING
    extra_key: msgspec.Raw = NOTHING
    sampling_params: msgspec.Raw = NOTHING


class _Sampling(msgspec.Struct, frozen=True):
    max_tokens: msgspec.Raw = NOTHING
    max_new_tokens: msgspec.Raw = NOTHING


_GENERATE = msgspec.json.Decoder(_Generate)
_SGLANG_GENERATE = msgspec.json.Decoder(_SglangGenerate)
_SAMPLING = msgspec.json.Decoder(_Sampling)
_BATCH = msgspec.json.Decoder(list[tuple[TokenId, ...]])
_TEXT = msgspec.json.Decoder(str)


def parse_generate(body: bytes) -> GeneratePayload:
    """Read a vLLM generate body; raises RequestError(BadRequest)."""
    generate = decode_body(_GENERATE, body, REFUSAL)
    if not generate.token_ids:
        raise refuse(REFUSAL)
    return GeneratePayload(
        model=generate.model or "",
        stream=is_true(generate.stream),
        max_output_tokens=output_cap((_sampling(generate.sampling_params).max_tokens,)),
        raw=body,
        prompts=(Prompts(token_ids=generate.token_ids),),
        features=read_features(generate.features, len(generate.token_ids), "invalid generate request: features cannot be read"),
        cache_salt=generate.cache_salt or "",
    )


def parse_sglang_generate(body: bytes, *, token_ids_only: bool = False) -> GeneratePayload:
    """Read an SGLang generate body; `token_ids_only`: one list of ids, neither several lists nor text.

    SGLang serves one model and its API has no name for it, so there is none to rewrite. Raises RequestError(BadRequest).
    """
    generate = decode_body(_SGLANG_GENERATE, body, SGLANG_REFUSAL)
    read = _only_ids if token_ids_only else _prompts
    return GeneratePayload(
        model="",
        stream=is_true(generate.stream),
        max_output_tokens=output_cap((_sampling(generate.sampling_params).max_new_tokens,)),
        raw=body,
        rewritable=False,
        prompts=tuple(read(generate)),
        cache_salt=_salt(generate.extra_key),
    )


def _prompts(generate: _SglangGenerate) -> Sequence[Prompts]:
    if not present(generate.input_ids):
        return (read_prompts(generate.text, SGLANG_REFUSAL),)
    if not bytes(memoryview(generate.input_ids)[1:64]).lstrip().startswith(b"["):
        return _only_ids(generate)
    batch = [Prompts(token_ids=ids) for ids in decode_member(_BATCH, generate.input_ids, SGLANG_REFUSAL) if ids]
    if not batch:
        raise refuse(SGLANG_REFUSAL)
    return batch


def _only_ids(generate: _SglangGenerate) -> Sequence[Prompts]:
    prompts = read_prompts(generate.input_ids, SGLANG_REFUSAL)
    if prompts.texts:
        raise refuse(SGLANG_REFUSAL)
    return (prompts,)


def _salt(extra_key: msgspec.Raw) -> str:
    """Nothing unless it is a string: SGLang also takes one key a prompt."""
    return decode_member(_TEXT, extra_key, SGLANG_REFUSAL) if bytes(memoryview(extra_key)[:1]) == b'"' else ""


def _sampling(member: msgspec.Raw) -> _Sampling:
    """Nothing unless it is an object: SGLang also takes one a prompt."""
    return _SAMPLING.decode(member) if bytes(memoryview(member)[:1]) == b"{" else _Sampling()
