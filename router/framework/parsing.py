"""Parsers and what they make of a body.

The engine resolves a parser by the path, hands it the whole body once, and afterwards asks it only for usage in responses.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from router.framework.plugin import Plugin


class Payload(ABC):
    """A parsed body. Families of bodies are subclasses in `router.payloads`; producers that read content match on them."""

    model: str  # empty: the body names none
    stream: bool
    max_output_tokens: int | None
    raw: bytes  # the body as it arrived
    skip_response: bool = False  # True: nothing of the response is read
    rewritable: bool = True  # False: the model name stays as it is, and may be missing

    @abstractmethod
    def with_model(self, model: str) -> bytes:
        """The body with another model name; everything else stays byte for byte. Raises RequestError when it has no model field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts that a response reported; None: not reported."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None

    def merged(self, later: "Usage") -> "Usage":
        """Field by field, the later value wins where it is present."""
        return Usage(
            prompt_tokens=self.prompt_tokens if later.prompt_tokens is None else later.prompt_tokens,
            completion_tokens=self.completion_tokens if later.completion_tokens is None else later.completion_tokens,
            total_tokens=self.total_tokens if later.total_tokens is None else later.total_tokens,
            cached_tokens=self.cached_tokens if later.cached_tokens is None else later.cached_tokens,
        )


class UsageReader(ABC):
    """Reads one response. Fed every body chunk in order; chunks may cut lines and characters anywhere."""

    events: int = 0  # server-sent events seen so far, [DONE] not counted

    @abstractmethod
    def feed(self, chunk: bytes) -> None:
        """Take the next piece of the body. Cheap: it runs for every streamed token."""

    @abstractmethod
    def usage(self) -> Usage | None:
        """What has been reported so far; after the last chunk, the final figures."""


class Parser(Plugin, ABC):
    """Understands the bodies of some paths."""

    @abstractmethod
    def claims(self) -> Sequence[str]:
        """Path suffixes without leading slash; none: the fallback parser."""

    def claims_whole_paths(self) -> bool:
        """True: what it claims are whole paths, not suffixes of them."""
        return False

    def protocols(self) -> frozenset[str]:
        """Application protocols it can serve, as in `InferencePool.spec.appProtocol`."""
        return frozenset({"http"})

    @abstractmethod
    def parse(self, body: bytes, path: str, headers: Mapping[str, str]) -> Payload:
        """The payload of a whole body. Raises RequestError(BadRequest)."""

    @abstractmethod
    def usage_reader(self, payload: Payload, *, streaming: bool) -> UsageReader:
        """A reader for the response; `streaming`: the response is a stream of server-sent events."""
