"""What endpoints are working on: live counters, and what the request at hand would add."""

from dataclasses import dataclass

from router.framework.attributes.key import DataKey

PRODUCER = "inflight-load-producer"


@dataclass(slots=True, eq=False)
class InflightLoad:
    """Requests and tokens in flight on one endpoint instance.

    Live: the producer changes it in place, so every read sees the current counters. Nobody else writes it.
    """

    requests: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UncachedTokens:
    """Tokens that the request at hand would add to one endpoint."""

    tokens: int = 0


def inflight_load(producer: str = PRODUCER) -> DataKey[InflightLoad]:
    """Key of the live endpoint attribute."""
    return DataKey("InflightLoad", producer, InflightLoad)


def uncached_tokens(producer: str = PRODUCER) -> DataKey[UncachedTokens]:
    """Key of the endpoint attribute of one request."""
    return DataKey("UncachedTokens", producer, UncachedTokens)
