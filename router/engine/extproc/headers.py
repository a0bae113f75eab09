"""Which headers the engine reads, sets and removes, in both directions."""

from collections.abc import Iterable, Mapping

from router import wire

NEVER_FORWARDED = frozenset((*wire.ROUTING_HEADERS, *wire.SYSTEM_OWNED)) - {wire.CONTENT_LENGTH}


def stored(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Headers by name; of a repeated one the last value counts."""
    return dict(pairs)


def first_present(headers: Mapping[str, str], names: Iterable[str]) -> str:
    """The first non-empty value under `names` (new spelling first), else an empty text."""
    return next((value for name in names if (value := headers.get(name))), "")


def request_mutation(
    arrived: Mapping[str, str], wanted: Mapping[str, str], *, destination: str, body_bytes: int
) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Headers to set and names to remove on a request.

    `arrived` are the client's, `wanted` what they became on the way through plugins. A client's copy of a routing or control header
    is removed unless the engine sets that header itself: it would let clients choose addresses.
    """
    settable = ((name, value) for name, value in wanted.items() if name not in wire.SYSTEM_OWNED)
    changed = [(name, value) for name, value in settable if arrived.get(name) != value]
    changed.append((wire.DESTINATION, destination))
    if body_bytes > 0:
        changed.append((wire.CONTENT_LENGTH, str(body_bytes)))
    names = {name for name, _ in changed}
    removed = tuple(name for name in arrived if name in NEVER_FORWARDED and name not in names)
    return tuple(changed), removed


def response_mutation(added: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Headers to set on a response: the engine's mark and what plugins added."""
    return ((wire.RESPONSE_SEEN, "true"), *((name, value) for name, value in added.items() if name not in wire.SYSTEM_OWNED))
