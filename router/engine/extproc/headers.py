"""Which headers the engine reads, sets and removes, in both directions."""

from collections.abc import Iterable, Mapping

from router import wire

NEVER_FORWARDED = frozenset((*wire.ROUTING_HEADERS, *wire.SYSTEM_OWNED)) - {wire.CONTENT_LENGTH}


def stored(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Headers by name; of a repeated one the last value counts."""
    return dict(pairs)


def split_client_headers(pairs: Iterable[tuple[str, str]]) -> tuple[dict[str, str], tuple[str, ...]]:
    """What the engine may read of a request's headers, and the names that must not travel on.

    A client's routing headers are not even read: they would let it choose addresses.
    """
    headers = stored(pairs)
    removable = tuple(name for name in headers if name in NEVER_FORWARDED)
    for name in wire.ROUTING_HEADERS:
        headers.pop(name, None)
    return headers, removable


def request_mutation(
    arrived: Mapping[str, str], wanted: Mapping[str, str], *, removable: Iterable[str], destination: str, body_bytes: int
) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Headers to set and names to remove on a request.

    `arrived` are the client's, `wanted` what they became on the way through plugins; of `removable` goes what is not set anew.
    """
    changed = [(name, value) for name, value in wanted.items() if name not in wire.SYSTEM_OWNED and arrived.get(name) != value]
    changed.append((wire.DESTINATION, destination))
    if body_bytes > 0:
        changed.append((wire.CONTENT_LENGTH, str(body_bytes)))
    names = {name for name, _ in changed}
    return tuple(changed), tuple(name for name in removable if name not in names)


def response_mutation(added: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Headers to set on a response: the engine's mark and what plugins added."""
    return ((wire.RESPONSE_SEEN, "true"), *((name, value) for name, value in added.items() if name not in wire.SYSTEM_OWNED))
