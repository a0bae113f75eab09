"""Request bodies: decoded, checked, and reduced to what the engine needs. Unknown fields are ignored, as vLLM does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from simulator.errors import ApiError
from simulator.media import KIND_OF_PART, RawItem, raw_item
from simulator.options import Options

MAX_CHOICES = 128
MAX_TOKEN_ID = 2**32  # ids travel as unsigned 32-bit numbers


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat; parts are texts or media."""

    role: str
    parts: tuple[str | RawItem, ...]

    @property
    def text(self) -> str:
        """Its texts, joined."""
        return "\n".join(part for part in self.parts if isinstance(part, str))

    @property
    def media(self) -> list[RawItem]:
        """Its media, in order."""
        return [part for part in self.parts if isinstance(part, RawItem)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """What limits and shapes an answer."""

    max_tokens: int | None
    min_tokens: int = 0
    ignore_eos: bool = False
    n: int = 1
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """A chat or completions request."""

    model: str
    messages: tuple[Message, ...] = ()  # chat
    prompts: tuple[str | tuple[int, ...], ...] = ()  # completions
    sampling: Sampling
    stream: bool = False
    include_usage: bool = False
    continuous_usage: bool = False
    generation_prompt: bool = True
    cache_salt: str = ""
    mm_processor_kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tools: str = ""  # the tools as text; they are part of the prompt

    @property
    def media(self) -> list[RawItem]:
        """The media of all messages, in order."""
        return [item for message in self.messages for item in message.media]


def decode(body: bytes, content_type: str) -> dict[str, Any]:
    """The JSON object of a body. Raises ApiError."""
    if content_type and "json" not in content_type:
        raise ApiError(400, f"1 validation error: Input should be JSON, not {content_type!r}", kind="Bad Request", param="body")
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ApiError(400, f"1 validation error: JSON decode error, {error}", kind="Bad Request", param="body") from error
    if not isinstance(value, dict):
        raise ApiError(400, "1 validation error: Input should be a valid dictionary", kind="Bad Request", param="body")
    return value


def chat(body: Mapping[str, Any], options: Options) -> Generation:
    """A chat completions body. Raises ApiError."""
    if "messages" not in body:
        raise ApiError(400, "1 validation error: Field required", kind="Bad Request", param="body.messages")
    raw = body["messages"]
    if not isinstance(raw, list):
        raise ApiError(400, "1 validation error: Input should be a valid list", kind="Bad Request", param="body.messages")
    if not raw:
        raise ApiError(400, "Cannot apply chat template to an empty conversation.")
    messages = tuple(_message(entry, i) for i, entry in enumerate(raw))
    _check_limits(messages, options)
    if body.get("continue_final_message") and body.get("add_generation_prompt", True) and "add_generation_prompt" in body:
        raise ApiError(400, "Cannot set both `continue_final_message` and `add_generation_prompt` to True.")
    tools = body.get("tools")
    return Generation(
        messages=messages,
        generation_prompt=not body.get("continue_final_message") and body.get("add_generation_prompt", True) is not False,
        tools=msgspec.json.encode(tools).decode() if tools else "",
        **_common(body, ("max_completion_tokens", "max_tokens")),
    )


def completions(body: Mapping[str, Any]) -> Generation:
    """A completions body. Raises ApiError."""
    prompt = body.get("prompt")
    if isinstance(prompt, str):
        prompts: tuple[Any, ...] = (prompt,)
    elif isinstance(prompt, list) and prompt and all(isinstance(p, str) for p in prompt):
        prompts = tuple(prompt)
    elif isinstance(prompt, list) and prompt and all(isinstance(p, int) and 0 <= p < MAX_TOKEN_ID for p in prompt):
        prompts = (tuple(prompt),)
    else:
        raise ApiError(400, "1 validation error: prompt must be a string, strings or token ids", kind="Bad Request", param="body.prompt")
    return Generation(prompts=prompts, **_common(body, ("max_tokens",)))


def check_model(model: object, options: Options) -> str:
    """The name to answer with; a missing one means the served model."""
    if model is None or model == "":
        return options.names[0]
    if model not in options.names:
        raise ApiError(404, f"The model `{model}` does not exist. Valid aliases: {', '.join(options.names)}", param="model")
    return str(model)


def _common(body: Mapping[str, Any], cap_keys: Sequence[str]) -> dict[str, Any]:
    stream = bool(body.get("stream"))
    stream_options = body.get("stream_options")
    if stream_options is not None and not stream:
        raise ApiError(400, "Stream options can only be defined when `stream=True`.")
    flags: Mapping[str, Any] = stream_options if isinstance(stream_options, Mapping) else {}
    kwargs = body.get("mm_processor_kwargs")
    return {
        "model": body.get("model") or "",
        "sampling": _sampling(body, cap_keys),
        "stream": stream,
        "include_usage": bool(flags.get("include_usage")),
        "continuous_usage": bool(flags.get("continuous_usage_stats")),
        "cache_salt": str(body.get("cache_salt") or ""),
        "mm_processor_kwargs": kwargs if isinstance(kwargs, Mapping) else {},
    }


def _sampling(body: Mapping[str, Any], cap_keys: Sequence[str]) -> Sampling:
    caps = [_whole(body, key) for key in cap_keys]
    cap = next((value for value in caps if value is not None), None)
    if cap is not None and cap < 1:
        raise ApiError(400, f"max_tokens must be at least 1, got {cap}.", param="max_tokens")
    minimum = _whole(body, "min_tokens") or 0
    if minimum < 0 or (cap is not None and minimum > cap):
        raise ApiError(400, f"min_tokens must be between 0 and max_tokens={cap}, got {minimum}.", param="min_tokens")
    n = 1 if body.get("n") is None else _whole(body, "n") or 0
    if not 1 <= n <= MAX_CHOICES:
        raise ApiError(400, f"n must be at least 1 and at most {MAX_CHOICES}, got {n}.", param="n")
    temperature = body.get("temperature")
    if isinstance(temperature, int | float) and temperature < 0:
        raise ApiError(400, f"temperature must be non-negative, got {temperature}.", param="temperature")
    stop = body.get("stop") or ()
    if not isinstance(stop, str | list | tuple):
        message = "1 validation error: stop must be a string or strings"
        raise ApiError(400, message, kind="Bad Request", param="body.stop")
    stops = (stop,) if isinstance(stop, str) else tuple(str(word) for word in stop)
    return Sampling(max_tokens=cap, min_tokens=minimum, ignore_eos=bool(body.get("ignore_eos")), n=n, stop=stops)


def _whole(body: Mapping[str, Any], key: str) -> int | None:
    value = body.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        message = f"1 validation error: Input should be a valid integer, got {value!r}"
        raise ApiError(400, message, kind="Bad Request", param=f"body.{key}")
    return value


def _message(entry: object, index: int) -> Message:
    where = f"body.messages.{index}"
    if not isinstance(entry, Mapping) or not isinstance(entry.get("role"), str):
        raise ApiError(400, "1 validation error: a message is an object with a role", kind="Bad Request", param=where)
    content: Any = entry.get("content")
    if content is None:
        return Message(entry["role"], ())
    if isinstance(content, str):
        return Message(entry["role"], (content,))
    if not isinstance(content, list):
        raise ApiError(400, "1 validation error: content is a string or a list of parts", kind="Bad Request", param=where)
    return Message(entry["role"], tuple(_part(part, i) for i, part in enumerate(content)))


def _part(part: Any, index: int) -> str | RawItem:
    kind = part.get("type") if isinstance(part, Mapping) else None
    if kind == "text" and isinstance(part.get("text"), str):
        return part["text"]
    if kind in KIND_OF_PART:
        return raw_item(part, index)
    raise ApiError(400, f"Unsupported chat content part type: {kind!r}", param="type")


def _check_limits(messages: Sequence[Message], options: Options) -> None:
    for kind, limit in options.limit_mm_per_prompt.items():
        found = sum(1 for message in messages for item in message.media if item.kind == kind)
        if found > int(limit):
            raise ApiError(400, f"At most {limit} {kind}(s) may be provided in one prompt.", param=kind)
