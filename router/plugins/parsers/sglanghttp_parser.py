"""Reads the bodies of SGLang's own generate API."""

from collections.abc import Mapping, Sequence

from router.framework.parsing import Parser, Payload, UsageReader
from router.framework.plugin import Handle, NoParameters
from router.payloads.generate import parse_sglang_generate
from router.payloads.sglang_usage import SGLANG_USAGE
from router.payloads.usage import JsonUsageReader, StreamUsageReader

TYPE = "sglanghttp-parser"
CLAIMS = ("generate",)

Parameters = NoParameters


class SglanghttpParser(Parser):
    """Token ids, or text, for the one model that SGLang serves."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._token_ids_only = handle.compat.reference

    def claims(self) -> Sequence[str]:
        """Its path."""
        return CLAIMS

    def claims_whole_paths(self) -> bool:
        """True: other APIs end in the same word."""
        return True

    def protocols(self) -> frozenset[str]:
        """HTTP/1.1 and HTTP/2 without TLS."""
        return frozenset({"http", "kubernetes.io/h2c"})

    def parse(self, body: bytes, path: str, headers: Mapping[str, str]) -> Payload:
        """Read the body."""
        return parse_sglang_generate(body, token_ids_only=self._token_ids_only)

    def usage_reader(self, payload: Payload, *, streaming: bool) -> UsageReader:
        """A reader of events or of one document."""
        return StreamUsageReader(SGLANG_USAGE) if streaming else JsonUsageReader(SGLANG_USAGE)
