"""Reads the bodies of Anthropic's Messages API."""

from collections.abc import Mapping, Sequence

from router.framework.parsing import Parser, Payload, UsageReader
from router.framework.plugin import Handle, NoParameters
from router.payloads.anthropic_usage import ANTHROPIC_USAGE
from router.payloads.messages import parse_messages
from router.payloads.opaque import OpaquePayload
from router.payloads.usage import JsonUsageReader, StreamUsageReader

TYPE = "anthropic-parser"
COUNT_TOKENS = "messages/count_tokens"
CLAIMS = ("messages", COUNT_TOKENS)

Parameters = NoParameters


class AnthropicParser(Parser):
    """Messages; a request that only counts tokens passes unread."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)

    def claims(self) -> Sequence[str]:
        """Its paths."""
        return CLAIMS

    def protocols(self) -> frozenset[str]:
        """HTTP/1.1 and HTTP/2 without TLS."""
        return frozenset({"http", "kubernetes.io/h2c"})

    def parse(self, body: bytes, path: str, headers: Mapping[str, str]) -> Payload:
        """Read the body of a message; that of a count stays as it is."""
        if path.rstrip("/").endswith(COUNT_TOKENS):
            return OpaquePayload(raw=body, skip_response=True)
        return parse_messages(body)

    def usage_reader(self, payload: Payload, *, streaming: bool) -> UsageReader:
        """A reader of events or of one document."""
        return StreamUsageReader(ANTHROPIC_USAGE) if streaming else JsonUsageReader(ANTHROPIC_USAGE)
