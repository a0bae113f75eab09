"""Parameters of the plugins that keep sessions at an endpoint."""

from dataclasses import dataclass, field
from typing import Literal

from router.framework.errors import ConfigError

ENCODED_ENDPOINT_HEADER, SESSION_ID = "encoded_endpoint_header", "session_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedEndpointHeader:
    """The header that carries an endpoint's name both ways."""

    header: str = "x-session-token"

    def __post_init__(self) -> None:
        if not self.header:
            raise ConfigError("must not be empty", field="header")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a session id is looked for: a request header, or a request attribute of another plugin."""

    header: str = ""
    attribute: str = ""
    producer: str = ""

    def __post_init__(self) -> None:
        if bool(self.header) == bool(self.attribute):
            raise ConfigError("a source is either a header or an attribute", field="header")
        if bool(self.attribute) != bool(self.producer):
            raise ConfigError("attribute and producer are given together", field="producer")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionId:
    """How sessions are told apart and how long they are remembered."""

    sources: tuple[Source, ...] = (Source(header="x-session-id"),)
    eviction_ttl_seconds: int = 300
    eviction_sweep_seconds: int = 10

    def __post_init__(self) -> None:
        if not self.sources:
            raise ConfigError("must not be empty", field="sources")
        for name, seconds in (("evictionTtlSeconds", self.eviction_ttl_seconds), ("evictionSweepSeconds", self.eviction_sweep_seconds)):
            if seconds <= 0:
                raise ConfigError(f"{seconds} is not above 0", field=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class AffinityParameters:
    """`parameters:` of the session affinity plugins."""

    strategy: Literal["encoded_endpoint_header", "session_id"] = ENCODED_ENDPOINT_HEADER
    encoded_endpoint_header_config: EncodedEndpointHeader = field(default_factory=EncodedEndpointHeader)
    session_id_config: SessionId = field(default_factory=SessionId)
    profile_name: str = ""  # whose target a session is kept at; empty: the primary profile's
