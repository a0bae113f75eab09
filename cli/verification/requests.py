"""The bodies of the requests that a verification sends."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

QUESTION = "What color is this image?"
SENTENCE = "The router hashes the text and the image of a multimodal request to find a warm pod. "
REPEATS = 40  # of the sentence: about 700 tokens
VIDEO_HEADERS = {"x-llm-d-video-fps": "4", "x-llm-d-video-duration-seconds": "2", "x-llm-d-video-resolution": "64x64"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One chat completion: its JSON body as bytes, and headers beside the usual ones."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class Requests:
    """Makes the requests for one model."""

    def __init__(self, model: str) -> None:
        self._model = model

    def about_image(self, url: str, max_tokens: int = 64) -> ChatRequest:
        """The picture at `url` and the guide's question about it."""
        return self._chat([_image(url), _text(QUESTION)], max_tokens)

    def long_with_image(self, url: str) -> ChatRequest:
        """About 700 tokens of text, then the picture: long enough that a warm pod pays."""
        return self._chat([_text(f"{SENTENCE * REPEATS} {QUESTION}"), _image(url)], 16)

    def text_only(self) -> ChatRequest:
        """A request without media."""
        return self._chat("How are you today?", 16)

    def about_video(self, url: str) -> ChatRequest:
        """A video, with the three headers by which the router learns its size."""
        request = self._chat([{"type": "video_url", "video_url": {"url": url}}, _text("What happens in this video?")], 32)
        return ChatRequest(body=request.body, headers=VIDEO_HEADERS)

    def streamed(self, url: str) -> ChatRequest:
        """The question about a picture, answered in chunks with the usage at the end."""
        return self._chat([_image(url), _text(QUESTION)], 32, stream=True, stream_options={"include_usage": True})

    def _chat(self, content: str | Sequence[Mapping[str, Any]], max_tokens: int, **more: Any) -> ChatRequest:
        body = {"model": self._model, "messages": [{"role": "user", "content": content}], "max_tokens": max_tokens, **more}
        return ChatRequest(body=json.dumps(body).encode())


def _image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
