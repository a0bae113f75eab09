"""Takes every path that no other parser claims and leaves its body unread."""

from collections.abc import Mapping, Sequence

from router.framework.parsing import Parser, Payload, Usage, UsageReader
from router.framework.plugin import Handle, NoParameters
from router.payloads.opaque import OpaquePayload

TYPE = "passthrough-parser"

Parameters = NoParameters


class PassthroughParser(Parser):
    """Opaque bodies: no model, no usage, no rewriting."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)

    def claims(self) -> Sequence[str]:
        """None: the fallback."""
        return ()

    def protocols(self) -> frozenset[str]:
        """HTTP/1.1 and HTTP/2 without TLS."""
        return frozenset({"http", "kubernetes.io/h2c"})

    def parse(self, body: bytes, path: str, headers: Mapping[str, str]) -> Payload:
        """The body as it is."""
        return OpaquePayload(raw=body)

    def usage_reader(self, payload: Payload, *, streaming: bool) -> UsageReader:
        """A reader that ignores everything."""
        return _Nothing()


class _Nothing(UsageReader):
    def feed(self, chunk: bytes) -> None:
        """Ignore it."""

    def usage(self) -> Usage | None:
        """None."""
        return None
