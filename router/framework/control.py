"""Roles in a request's life outside scheduling. They take effect by being configured, in configuration order.

`engine.control.stages` calls them, with a time budget, metrics and error policy around each call.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from router.framework.endpoint import Endpoint, LiveEndpoint
from router.framework.parsing import Payload, Usage
from router.framework.plugin import Plugin
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult


class HeaderProcessor(Plugin, ABC):
    """Reads request headers before admission; an error refuses the request."""

    @abstractmethod
    async def process_headers(self, request: InferenceRequest) -> None:
        """May write request attributes and headers."""


class Screener(Plugin, ABC):
    """Restricts candidates before producers run."""

    @abstractmethod
    def screen(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """A subset in the same order; every screener gets the full list, the intersection survives."""


class DataProducer(Plugin, ABC):
    """Computes values before scheduling. Two steps, so that the first can run where the bytes are."""

    budget_seconds: float = 0.4  # for one call of one step

    async def prepare(self, request: InferenceRequest, payload: Payload) -> None:
        """Read the body; write request attributes. Called for all producers first, in dependency order."""

    async def produce(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> None:
        """Write attributes of this request on the candidates. Called in dependency order."""


class Admitter(Plugin, ABC):
    """May refuse a request once the producers ran."""

    @abstractmethod
    async def admit(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> None:
        """Returns to admit; raises RequestError to refuse."""


class PreRequest(Plugin, ABC):
    """Acts on the decision before it leaves: books, headers."""

    @abstractmethod
    async def before_request(self, request: InferenceRequest, result: SchedulingResult) -> None:
        """All plugins run even if one fails; then the request is refused."""


class TerminationCause(Enum):
    """How a response ended."""

    NATURAL = "natural"
    CLIENT_DISCONNECT = "client-disconnect"
    EVICTED = "evicted"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseProgress:
    """One step of a response. Exactly one step of a settled request has `cause` set, and it is the last."""

    first: bool  # the first body chunk (a body-less or aborted response has no such step, or one that is also the last)
    size_bytes: int = 0
    usage: Usage | None = None  # known so far
    cause: TerminationCause | None = None  # set: the response is over, nothing follows


class ResponseHeaders(Plugin, ABC):
    """Sees response headers; what it puts into `added` is set on the response."""

    @abstractmethod
    async def on_response_headers(self, request: InferenceRequest, result: SchedulingResult, added: dict[str, str]) -> None:
        """Called once, before the headers are passed on."""


class ResponseBody(Plugin, ABC):
    """Follows a response to its end. `on_progress` runs for the first chunk and for the end at least."""

    every_chunk: bool = False  # True: also for the chunks between

    @abstractmethod
    def on_progress(self, request: InferenceRequest, result: SchedulingResult, progress: ResponseProgress) -> dict[str, Any] | None:
        """Keep books; must not raise. Dynamic metadata (namespace -> struct) to attach to the last reply, or None."""


class EndpointListener(Plugin, ABC):
    """Is told of endpoints as they come and go, synchronously, before the change is visible to requests."""

    @abstractmethod
    def endpoint_added(self, endpoint: LiveEndpoint) -> None:
        """A new instance; live attributes are put into `endpoint.attributes` here."""

    @abstractmethod
    def endpoint_removed(self, endpoint: LiveEndpoint) -> None:
        """The instance is gone; requests on it may still end later."""
