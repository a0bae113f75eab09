"""Image generation."""

from dataclasses import dataclass

import msgspec

from router.payloads.json_body import NOTHING, JsonPayload, decode_body, is_true, refuse

REFUSAL = "invalid images generations request: must have prompt field"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageGenerationPayload(JsonPayload):
    """An images/generations body."""

    prompt: str


class _ImageGeneration(msgspec.Struct, frozen=True):
    model: str | None = None
    stream: msgspec.Raw = NOTHING
    prompt: str = ""


_DECODER = msgspec.json.Decoder(_ImageGeneration)


def parse_image_generation(body: bytes) -> ImageGenerationPayload:
    """Read an images/generations body; raises RequestError(BadRequest)."""
    generation = decode_body(_DECODER, body, REFUSAL)
    if not generation.prompt:
        raise refuse(REFUSAL)
    return ImageGenerationPayload(
        model=generation.model or "",
        stream=is_true(generation.stream),
        max_output_tokens=None,
        raw=body,
        prompt=generation.prompt,
    )
