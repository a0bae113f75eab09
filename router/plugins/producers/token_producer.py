"""Counts a request's tokens without a tokenizer, and gives every media item its place and identity among them.

Text counts four bytes a token; images, videos and audio are priced by `estimate`. Other plugins use the tokens to weigh requests
and to recognise prompts that begin alike.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from router.framework.attributes.tokenized_prompt import MultimodalFeature, Prompt, TokenizedPrompt, tokenized_prompt
from router.framework.control import DataProducer
from router.framework.errors import ConfigError
from router.framework.parsing import Payload
from router.framework.plugin import Handle
from router.framework.request import InferenceRequest
from router.payloads.chat import ChatPayload, Message
from router.payloads.completions import CompletionsPayload
from router.payloads.content import AudioPart, ContentPart, MediaPart, TextPart
from router.payloads.conversations import ConversationsPayload
from router.payloads.embeddings import EmbeddingsPayload
from router.payloads.generate import GeneratePayload
from router.payloads.messages import Block, InlineImage, MessagesPayload, Thinking, ToolResult, ToolUse, Turn
from router.payloads.prompt import Prompts
from router.payloads.responses import ResponsesPayload
from router.payloads.vllm_engine import EnginePayload
from router.tokens.audio import audio_tokens
from router.tokens.images import ImageEstimate
from router.tokens.stream import TokenStream, packed_token_ids, text_prompt
from router.tokens.video import VideoEstimate, VideoHints, video_hints

TYPE = "token-producer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """`estimate:` of this plugin."""

    image: ImageEstimate = field(default_factory=ImageEstimate)
    video: VideoEstimate = field(default_factory=VideoEstimate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin; only the estimate backend is built."""

    estimate: Estimate = field(default_factory=Estimate)
    vllm: Any = None
    model_name: str = ""
    uds_tokenizer_config: Any = None

    def __post_init__(self) -> None:
        for name, value in (("vllm", self.vllm), ("modelName", self.model_name), ("udsTokenizerConfig", self.uds_tokenizer_config)):
            if value:
                raise ConfigError("tokenizing by a model server is not built yet; use `estimate`", field=name)


class TokenProducer(DataProducer):
    """Writes the request attribute `TokenizedPrompt`; a body it cannot read gets none."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._estimate = parameters.estimate
        self._reference = handle.compat.reference
        self._key = tokenized_prompt(name)

    def produces(self) -> frozenset[Any]:
        """The tokens of the request."""
        return frozenset({self._key})

    async def prepare(self, request: InferenceRequest, payload: Payload) -> None:
        """Tokenize the body."""
        given = _given(payload)
        read = _packed(given, getattr(payload, "features", ())) if given else self._estimated(payload, request)
        prompts = tuple(prompt for prompt in read if prompt.packed)
        if prompts:
            salt = getattr(payload, "cache_salt", "")
            estimated = not any(each.token_ids for each in given)
            request.write(self._key, TokenizedPrompt(prompts=prompts, cache_salt=salt, estimated=estimated))

    def _estimated(self, payload: Payload, request: InferenceRequest) -> Iterable[Prompt]:
        match payload:
            case ChatPayload():
                return (self._chat(payload, video_hints(request.headers)),)
            case MessagesPayload():
                return (self._messages(payload),)
            case _:
                return (text_prompt(_document(payload)),)

    def _chat(self, payload: ChatPayload, hints: VideoHints) -> Prompt:
        stream = TokenStream()
        stream.text(bytes(payload.tools))
        for message in payload.messages:
            self._message(stream, message, hints)
        return stream.prompt()

    def _message(self, stream: TokenStream, message: Message, hints: VideoHints) -> None:
        stream.text(message.role.encode())
        for part in message.content:
            self._part(stream, part, hints)
        if not self._reference:  # an assistant's calls are part of what the model reads
            stream.text(bytes(message.tool_calls))

    def _messages(self, payload: MessagesPayload) -> Prompt:
        stream = TokenStream()
        stream.text(bytes(payload.tools))
        for text in payload.system:
            stream.text(text.encode())
        for turn in payload.messages:
            self._turn(stream, turn)
        return stream.prompt()

    def _turn(self, stream: TokenStream, turn: Turn) -> None:
        stream.text(turn.role.encode())
        for block in turn.content:
            self._block(stream, block)

    def _block(self, stream: TokenStream, block: Block) -> None:
        match block:
            case Thinking():
                stream.text(block.text.encode())
            case ToolUse():
                stream.text(block.id.encode() + block.name.encode() + bytes(block.input))
            case ToolResult():
                stream.text("\n".join(part.text for part in block.content if isinstance(part, TextPart)).encode())
                for image in (part for part in block.content if not isinstance(part, TextPart)):
                    self._block(stream, image)
            case InlineImage():
                stream.media("image", block.data, self._estimate.image.inline_tokens(block.data, reference=self._reference))
            case TextPart() | MediaPart():
                self._part(stream, block, VideoHints())

    def _part(self, stream: TokenStream, part: ContentPart, hints: VideoHints) -> None:
        match part:
            case TextPart():
                stream.text(part.text.encode())
            case AudioPart():
                content = bytes(part.data) + part.format.encode()
                stream.media("audio", content, audio_tokens(content))
            case MediaPart(modality="image"):
                stream.media("image", part.url, self._estimate.image.tokens(part.url, reference=self._reference))
            case MediaPart(modality="video"):
                stream.media("video", part.url, self._estimate.video.tokens(hints))
            case MediaPart():
                # An audio's length is not in its URL. The reference also ignores the URL, so that all of them look alike.
                stream.media(part.modality, b"" if self._reference else part.url, 1)


def _given(payload: Payload) -> Sequence[Prompts]:
    """Prompts that stand in the body as such; none where they have to be put together."""
    match payload:
        case GeneratePayload():
            return payload.prompts
        case CompletionsPayload() | EnginePayload():
            return (payload.prompts,)
        case EmbeddingsPayload() if payload.input.token_ids:
            return (payload.input,)
        case _:
            return ()


def _packed(given: Sequence[Prompts], features: tuple[MultimodalFeature, ...]) -> Iterable[Prompt]:
    for prompts in given:
        if prompts.token_ids:
            yield Prompt(packed=packed_token_ids(prompts.token_ids), features=features)
        yield from (text_prompt(text.encode()) for text in prompts.texts)


def _document(payload: Payload) -> bytes:
    """The JSON that stands for a prompt where a body is not read any closer; empty: nothing does."""
    match payload:
        case EmbeddingsPayload():
            return bytes(payload.input_json)
        case ConversationsPayload():
            return bytes(payload.items)
        case ResponsesPayload():
            members = (("instructions", payload.instructions), ("tools", payload.tools), ("input", payload.input))
            return b"[" + b",".join(b'{"%s":%s}' % (name.encode(), bytes(value)) for name, value in members if len(value)) + b"]"
        case _:
            return b""
