"""Reads the messages of vLLM's gRPC engine service."""

from collections.abc import Mapping, Sequence

from router.framework.parsing import Parser, Payload, UsageReader
from router.framework.plugin import Handle, NoParameters
from router.payloads.opaque import OpaquePayload
from router.payloads.vllm_engine import EnginePayload, parse_embed, parse_generate
from router.payloads.vllm_engine_usage import EmbedUsageReader, GenerateUsageReader

TYPE = "vllmgrpc-parser"
GENERATE = "vllm.grpc.engine.VllmEngine/Generate"
EMBED = "vllm.grpc.engine.VllmEngine/Embed"

Parameters = NoParameters


class VllmgrpcParser(Parser):
    """Generate and Embed, tokenized by the client."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)

    def claims(self) -> Sequence[str]:
        """The two methods that make a model work."""
        return (GENERATE, EMBED)

    def protocols(self) -> frozenset[str]:
        """HTTP/2 without TLS, which gRPC needs."""
        return frozenset({"kubernetes.io/h2c"})

    def parse(self, body: bytes, path: str, headers: Mapping[str, str]) -> Payload:
        """Read the message; that of another method stays as it is."""
        if path.endswith(GENERATE):
            return parse_generate(body)
        if path.endswith(EMBED):
            return parse_embed(body)
        return OpaquePayload(raw=body, skip_response=True)

    def usage_reader(self, payload: Payload, *, streaming: bool) -> UsageReader:
        """A reader of the method's answers, streamed or not."""
        return EmbedUsageReader() if isinstance(payload, EnginePayload) and payload.embeds else GenerateUsageReader()
