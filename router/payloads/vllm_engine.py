"""Messages of vLLM's gRPC engine service, whose clients have tokenized already. Field numbers are those of its definition."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from router.framework.attributes.tokenized_prompt import MultimodalFeature
from router.framework.errors import ErrorCode, RequestError
from router.framework.parsing import Payload
from router.payloads.features import placed
from router.payloads.grpc_frames import only_message
from router.payloads.prompt import Prompts
from router.payloads.protobuf import Value, content, fields, number, numbers, text

NO_INPUT = "invalid {} request: must have tokenized input"
NO_TEXT = "invalid Generate request: must have tokenized input or text"

_TOKENIZED, _TEXT, _SAMPLING, _STREAM, _MEDIA = 2, 3, 4, 5, 7  # of GenerateRequest; EmbedRequest has the first
_INPUT_IDS = 2  # of TokenizedInput
_MAX_TOKENS = 8  # of SamplingParams
_PLACEHOLDERS, _HASHES = 5, 6  # of MultimodalInputs
_OFFSET, _LENGTH = 1, 2  # of a placeholder


@dataclass(frozen=True, slots=True, kw_only=True)
class EnginePayload(Payload):
    """A Generate or Embed request. It names no model: the engine serves one."""

    raw: bytes
    prompts: Prompts
    features: tuple[MultimodalFeature, ...] = ()
    embeds: bool = False
    model: str = ""
    stream: bool = False
    max_output_tokens: int | None = None
    skip_response: bool = False
    rewritable: bool = False

    def with_model(self, model: str) -> bytes:
        """Raises RequestError: there is no model to replace."""
        raise RequestError(ErrorCode.BadRequest, f'model "{model}" cannot be set: messages of the engine service name none')


def parse_generate(body: bytes) -> EnginePayload:
    """Read a GenerateRequest in its frame; raises RequestError(BadRequest)."""
    return _read(_generate, body, "Generate")


def parse_embed(body: bytes) -> EnginePayload:
    """Read an EmbedRequest in its frame; raises RequestError(BadRequest)."""
    return _read(_embed, body, "Embed")


def _read(read: Callable[[bytes, memoryview], EnginePayload], body: bytes, name: str) -> EnginePayload:
    message = only_message(body)
    try:
        return read(body, message)
    except ValueError as error:
        raise RequestError(ErrorCode.BadRequest, f"error unmarshaling {name}Request: {error}") from None


def _generate(body: bytes, message: memoryview) -> EnginePayload:
    prompts, found = Prompts(), dict[int, Value]()
    for field, value in fields(message):
        if field == _TOKENIZED:  # of text and token ids the later one counts
            prompts = Prompts(token_ids=_token_ids(content(value)))
        elif field == _TEXT:
            prompts = Prompts(texts=(text(value),))
        else:
            found[field] = value
    if not prompts.token_ids and not any(prompts.texts):
        raise RequestError(ErrorCode.BadRequest, NO_TEXT)
    return EnginePayload(
        raw=body,
        prompts=prompts,
        features=placed(_features(content(found[_MEDIA])), len(prompts.token_ids)) if _MEDIA in found else (),
        stream=bool(number(found.get(_STREAM, 0))),
        max_output_tokens=_cap(content(found[_SAMPLING])) if _SAMPLING in found else None,
    )


def _embed(body: bytes, message: memoryview) -> EnginePayload:
    token_ids: tuple[int, ...] = ()
    for field, value in fields(message):
        if field == _TOKENIZED:
            token_ids = _token_ids(content(value))
    if not token_ids:
        raise RequestError(ErrorCode.BadRequest, NO_INPUT.format("Embed"))
    return EnginePayload(raw=body, prompts=Prompts(token_ids=token_ids), embeds=True)


def _token_ids(message: memoryview) -> tuple[int, ...]:
    return tuple(token for field, value in fields(message) if field == _INPUT_IDS for token in numbers(value))


def _cap(message: memoryview) -> int | None:
    found = [number(value) for field, value in fields(message) if field == _MAX_TOKENS]
    return found[-1] if found else None


def _features(message: memoryview) -> Iterable[MultimodalFeature]:
    """The service does not tell modalities apart; images are what it is used for."""
    places: list[dict[int, int]] = []
    hashes: list[str] = []
    for field, value in fields(message):
        if field == _PLACEHOLDERS:
            places.append({key: number(each) for key, each in fields(content(value)) if key in {_OFFSET, _LENGTH}})
        elif field == _HASHES:
            hashes.append(text(value))
    for place, digest in zip(places, hashes, strict=False):
        yield MultimodalFeature(modality="image", hash=digest, offset=place.get(_OFFSET, 0), length=place.get(_LENGTH, 0))
