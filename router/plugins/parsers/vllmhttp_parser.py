"""Reads the bodies of vLLM's own generate API, which carries token ids."""

from collections.abc import Mapping, Sequence

from router.framework.parsing import Parser, Payload, UsageReader
from router.framework.plugin import Handle, NoParameters
from router.payloads.generate import parse_generate
from router.payloads.usage import JsonUsageReader, StreamUsageReader

TYPE = "vllmhttp-parser"
CLAIMS = ("inference/v1/generate",)

Parameters = NoParameters


class VllmhttpParser(Parser):
    """Token ids in, token ids out."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)

    def claims(self) -> Sequence[str]:
        """Its path."""
        return CLAIMS

    def protocols(self) -> frozenset[str]:
        """HTTP/1.1 and HTTP/2 without TLS."""
        return frozenset({"http", "kubernetes.io/h2c"})

    def parse(self, body: bytes, path: str, headers: Mapping[str, str]) -> Payload:
        """Read the body."""
        return parse_generate(body)

    def usage_reader(self, payload: Payload, *, streaming: bool) -> UsageReader:
        """A reader of events or of one document."""
        return StreamUsageReader() if streaming else JsonUsageReader()
