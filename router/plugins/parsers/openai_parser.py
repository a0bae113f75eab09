"""Reads the bodies of the OpenAI-style APIs."""

from collections.abc import Mapping, Sequence

from router.framework.parsing import Parser, Payload, UsageReader
from router.framework.plugin import Handle, NoParameters
from router.payloads.chat import parse_chat
from router.payloads.completions import parse_completions
from router.payloads.conversations import parse_conversations
from router.payloads.embeddings import parse_embeddings
from router.payloads.image_generation import parse_image_generation
from router.payloads.responses import parse_responses
from router.payloads.usage import JsonUsageReader, StreamUsageReader

TYPE = "openai-parser"
CLAIMS = (
    "chat/completions",
    "completions",
    "embeddings",
    "responses",
    "conversations",
    "chat/completions/render",
    "completions/render",
    "images/generations",
)

Parameters = NoParameters


class OpenaiParser(Parser):
    """Chat, completions, embeddings, responses, conversations and image generation."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._bare_urls = not handle.compat.reference

    def claims(self) -> Sequence[str]:
        """Its paths."""
        return CLAIMS

    def protocols(self) -> frozenset[str]:
        """HTTP/1.1 and HTTP/2 without TLS."""
        return frozenset({"http", "kubernetes.io/h2c"})

    def parse(self, body: bytes, path: str, headers: Mapping[str, str]) -> Payload:
        """Read the body as the API that the path names; a path of no API counts as completions."""
        api = path.rstrip("/").removesuffix("/render")
        match api.rsplit("/", 1)[-1]:
            case "conversations":
                return parse_conversations(body)
            case "responses":
                return parse_responses(body)
            case "completions" if api.endswith("chat/completions"):
                return parse_chat(body, bare_urls=self._bare_urls)
            case "embeddings":
                return parse_embeddings(body)
            case "generations" if api.endswith("images/generations"):
                return parse_image_generation(body)
            case _:
                return parse_completions(body)

    def usage_reader(self, payload: Payload, *, streaming: bool) -> UsageReader:
        """A reader of events or of one document."""
        return StreamUsageReader() if streaming else JsonUsageReader()
