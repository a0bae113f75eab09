"""Reads what Vertex AI's gRPC prediction service wraps: JSON of the OpenAI-style APIs."""

from collections.abc import Mapping, Sequence

from router.framework.parsing import Parser, Payload, UsageReader
from router.framework.plugin import Handle, NoParameters
from router.payloads.http_body import HttpBodyUsageReader, parse_chat_prediction, parse_raw_prediction
from router.payloads.opaque import OpaquePayload

TYPE = "vertexai-parser"
CHAT = "PredictionService/ChatCompletions"
RAW = ("PredictionService/StreamRawPredict", "PredictionService/RawPredict")
METHODS = (CHAT, *RAW)
PACKAGES = ("google.cloud.aiplatform.v1.", "google.cloud.aiplatform.v1beta1.")
CLAIMS = (*METHODS, *(f"{package}{method}" for package in PACKAGES for method in METHODS))

Parameters = NoParameters


class VertexaiParser(Parser):
    """Chats, and raw predictions that turn out to be one."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._bare_urls = not handle.compat.reference

    def claims(self) -> Sequence[str]:
        """Its methods, with and without the service's package: a suffix that is claimed begins where a path segment does."""
        return CLAIMS

    def protocols(self) -> frozenset[str]:
        """HTTP/2 without TLS, which gRPC needs."""
        return frozenset({"kubernetes.io/h2c"})

    def parse(self, body: bytes, path: str, headers: Mapping[str, str]) -> Payload:
        """Read the JSON inside the message; that of another method stays as it is."""
        if path.endswith(CHAT):
            return parse_chat_prediction(body, bare_urls=self._bare_urls)
        if path.endswith(RAW):
            return parse_raw_prediction(body, bare_urls=self._bare_urls)
        return OpaquePayload(raw=body, skip_response=True)

    def usage_reader(self, payload: Payload, *, streaming: bool) -> UsageReader:
        """A reader that sees from the answer whether it is streamed."""
        return HttpBodyUsageReader()
