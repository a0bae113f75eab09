"""Which endpoint a request's session belongs to.

Either the client brings the endpoint's name back in a header, or the engine remembers where a session id was sent.
"""

import base64
import binascii
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from router.framework.attributes.key import DataKey
from router.framework.endpoint import Endpoint
from router.framework.plugin import Clock
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult
from router.sessions.parameters import SESSION_ID, AffinityParameters, SessionId, Source

MAX_SESSIONS = 100_000  # clients choose session ids, so their number has a bound


class Affinity(ABC):
    """Follows sessions for one plugin."""

    def __init__(self, profile: str) -> None:
        self._profile = profile

    def consumes(self) -> frozenset[DataKey[Any]]:
        """Request attributes that it reads."""
        return frozenset()

    def produces(self) -> frozenset[DataKey[Any]]:
        """Request attributes that it writes for its own later calls."""
        return frozenset()

    @abstractmethod
    def bound(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Endpoint | None:
        """The candidate that the request's session is kept at."""

    @abstractmethod
    def settle(self, request: InferenceRequest, result: SchedulingResult) -> None:
        """Take note of where the request goes."""

    def answer(self, result: SchedulingResult) -> dict[str, str]:
        """Response headers that tell the client."""
        return {}

    def _target(self, result: SchedulingResult) -> Endpoint | None:
        chosen = result.profiles.get(self._profile or result.primary)
        return chosen.targets[0] if chosen else None


class HeaderAffinity(Affinity):
    """The client carries the endpoint's name, base64 encoded."""

    def __init__(self, header: str, profile: str) -> None:
        super().__init__(profile)
        self._header = header.lower()

    def bound(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Endpoint | None:
        """The endpoint that the header names; None when it is absent, unreadable, or names no candidate."""
        name = decode_token(request.headers.get(self._header, ""))
        return next((endpoint for endpoint in endpoints if endpoint.metadata.id == name), None) if name else None

    def settle(self, request: InferenceRequest, result: SchedulingResult) -> None:
        """The client remembers, nothing is kept here."""

    def answer(self, result: SchedulingResult) -> dict[str, str]:
        """The header for the next request of the session."""
        target = self._target(result)
        return {self._header: encode_token(target.metadata.id)} if target else {}


@dataclass(slots=True)
class _Binding:
    endpoint_id: str
    used_at: float  # clock seconds


class RememberedAffinity(Affinity):
    """The engine remembers sessions by a digest of their id until they are unused for a while."""

    def __init__(self, parameters: SessionId, profile: str, found: DataKey[bool], clock: Clock) -> None:
        """`found`: the request attribute that keeps whether the session's endpoint was among the candidates."""
        super().__init__(profile)
        self._sources = [(source, _key(source)) for source in parameters.sources]
        self._ttl = parameters.eviction_ttl_seconds
        self._sweep = parameters.eviction_sweep_seconds
        self._found = found
        self._clock = clock
        self._swept_at = clock()
        self._bindings: OrderedDict[bytes, _Binding] = OrderedDict()  # least recently used first

    def consumes(self) -> frozenset[DataKey[Any]]:
        """The attributes among the sources."""
        return frozenset(key for _, key in self._sources if key is not None)

    def produces(self) -> frozenset[DataKey[Any]]:
        """Whether the session's endpoint was a candidate."""
        return frozenset({self._found})

    def bound(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Endpoint | None:
        """The candidate that the session was bound to."""
        session = self._session(request)
        binding = self._use(session) if session else None
        if binding is None:
            return None
        bound = next((endpoint for endpoint in endpoints if endpoint.metadata.id == binding.endpoint_id), None)
        if bound is not None:
            request.write(self._found, True)
        return bound

    def settle(self, request: InferenceRequest, result: SchedulingResult) -> None:
        """Bind a session that has no usable binding to the endpoint that was chosen."""
        session, target = self._session(request), self._target(result)
        if session is None or target is None or request.read(self._found):
            return
        self._bindings[session] = _Binding(target.metadata.id, self._clock())
        self._bindings.move_to_end(session)
        if len(self._bindings) > MAX_SESSIONS:
            self._bindings.popitem(last=False)

    def __len__(self) -> int:
        return len(self._bindings)

    def _use(self, session: bytes) -> _Binding | None:
        now = self._clock()
        if now - self._swept_at >= self._sweep:
            self._sweep_out(now)
        binding = self._bindings.get(session)
        if binding is None or now - binding.used_at > self._ttl:
            return None
        binding.used_at = now
        self._bindings.move_to_end(session)
        return binding

    def _sweep_out(self, now: float) -> None:
        self._swept_at = now
        while self._bindings and now - next(iter(self._bindings.values())).used_at > self._ttl:
            self._bindings.popitem(last=False)

    def _session(self, request: InferenceRequest) -> bytes | None:
        """The digest of the first non-empty source."""
        for source, key in self._sources:
            value = request.headers.get(source.header.lower()) if key is None else request.read(key)
            if value:
                return blake2b(value.encode("utf-8", "surrogateescape"), digest_size=16).digest()
        return None


def affinity(parameters: AffinityParameters, plugin_name: str, clock: Clock) -> Affinity:
    """The way of `parameters.strategy`."""
    if parameters.strategy == SESSION_ID:
        found = DataKey("SessionEndpointFound", plugin_name, bool)
        return RememberedAffinity(parameters.session_id_config, parameters.profile_name, found, clock)
    return HeaderAffinity(parameters.encoded_endpoint_header_config.header, parameters.profile_name)


def encode_token(endpoint_id: str) -> str:
    """An endpoint's id as clients carry it: standard base64."""
    return base64.b64encode(endpoint_id.encode()).decode()


def decode_token(token: str) -> str:
    """The id in a token; empty for one that cannot be read."""
    try:
        return base64.b64decode(token, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


def _key(source: Source) -> DataKey[str] | None:
    return DataKey(source.attribute, source.producer, str) if source.attribute else None
