"""Events of an engine's KV cache, from their msgpack form.

vLLM sends each event as a map with a `type` key, older versions and SGLang as an array with the tag in front. Missing trailing
fields take their defaults, unknown ones are ignored, and so are events of unknown kinds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import msgspec

from router.framework.errors import RouterError
from router.framework.parameters import show

T = TypeVar("T")

_MASK = 0xFFFFFFFFFFFFFFFF
_HASH_BYTES = 8
_TOKEN_LIMIT = 1 << 32
_SALT = "cache_salt"

_STORED = (
    "block_hashes",
    "parent_block_hash",
    "token_ids",
    "block_size",
    "lora_id",
    "medium",
    "lora_name",
    "extra_keys",
    "group_idx",
    "kv_cache_spec_kind",
)
_REMOVED = ("block_hashes", "medium", "group_idx")
_REQUIRED = {"BlockStored": 4, "BlockRemoved": 1}  # of the fields after the tag


class EventError(RouterError):
    """A message that cannot be understood; it is dropped as a whole."""


@dataclass(frozen=True, slots=True)
class ExtraKey:
    """What a block depends on besides its tokens: the hash of a media item, a cache salt or a LoRA name."""

    text: str
    offset: int | None = None  # tokens from the block's start to the item's; negative when it began earlier


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockStored:
    """Blocks are in the cache. Without tokens: blocks known already, now (also) in the tier `medium`."""

    hashes: tuple[int, ...]
    parent: int | None = None
    tokens: tuple[int, ...] = ()
    block_tokens: int = 0
    medium: str = ""
    lora_name: str = ""
    extras: tuple[tuple[ExtraKey, ...], ...] = ()  # one entry a block, or none at all
    group: int | None = None
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRemoved:
    """Blocks have left the tier `medium`."""

    hashes: tuple[int, ...]
    medium: str = ""
    group: int | None = None


@dataclass(frozen=True, slots=True)
class AllBlocksCleared:
    """The cache is empty."""


Event = BlockStored | BlockRemoved | AllBlocksCleared


@dataclass(frozen=True, slots=True, kw_only=True)
class EventBatch:
    """What one step of the engine changed, in order."""

    timestamp: float  # seconds since 1970, by the engine's clock
    events: tuple[Event, ...]
    rank: int | None = None  # data-parallel rank


def decode_batch(payload: bytes) -> EventBatch:
    """The batch in a message's last frame. Raises EventError."""
    try:
        content = msgspec.msgpack.decode(payload)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise EventError(f"not msgpack: {error}") from error
    batch = _list(content, "batch")
    if len(batch) < 2 or isinstance(batch[0], bool) or not isinstance(batch[0], int | float):
        raise EventError(f"batch: {show(content)} is not [timestamp, events, rank]")
    events = [_event(item) for item in _list(batch[1], "events")]
    rank = _optional(int, batch[2], "rank") if len(batch) > 2 else None
    return EventBatch(timestamp=float(batch[0]), events=tuple(event for event in events if event is not None), rank=rank)


def engine_hash(value: Any) -> int:
    """A block's hash as an unsigned number of 64 bits: signed ones reinterpreted, of byte strings the last eight. Raises EventError."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value & _MASK
    if isinstance(value, bytes) and value:
        return int.from_bytes(value[-_HASH_BYTES:], "big")
    raise EventError(f"{show(value)} is not a block hash: a number or a byte string that is not empty")


def _event(content: Any) -> Event | None:
    if isinstance(content, Mapping):
        fields = cast("Mapping[Any, Any]", content)
        tag = fields.get("type")
    else:
        items = _list(content, "event")
        tag = items[0] if items else None
        names = _STORED if tag == "BlockStored" else _REMOVED
        fields = dict(zip(names, items[1:], strict=False))
    match tag:
        case "BlockStored":
            return _stored(_complete(fields, tag, _STORED))
        case "BlockRemoved":
            return _removed(_complete(fields, tag, _REMOVED))
        case "AllBlocksCleared":
            return AllBlocksCleared()
        case str():
            return None
        case _:
            raise EventError(f"{show(content)} is not an event: it has no type")


def _complete(fields: Mapping[Any, Any], tag: str, names: Sequence[str]) -> Mapping[Any, Any]:
    missing = [name for name in names[: _REQUIRED[tag]] if name not in fields]
    if missing:
        raise EventError(f"{tag} has no {missing[0]}")
    return fields


def _stored(fields: Mapping[Any, Any]) -> BlockStored:
    parent = fields["parent_block_hash"]
    return BlockStored(
        hashes=_hashes(fields),
        parent=None if parent is None else engine_hash(parent) or None,  # 0: some engines' way to say none
        tokens=_tokens(fields["token_ids"]),
        block_tokens=_optional(int, fields["block_size"], "block_size") or 0,
        medium=_optional(str, fields.get("medium"), "medium") or "",
        lora_name=_optional(str, fields.get("lora_name"), "lora_name") or "",
        extras=_extras(fields.get("extra_keys")),
        group=_optional(int, fields.get("group_idx"), "group_idx"),
        kind=_optional(str, fields.get("kv_cache_spec_kind"), "kv_cache_spec_kind") or "",
    )


def _removed(fields: Mapping[Any, Any]) -> BlockRemoved:
    return BlockRemoved(
        hashes=_hashes(fields),
        medium=_optional(str, fields.get("medium"), "medium") or "",
        group=_optional(int, fields.get("group_idx"), "group_idx"),
    )


def _hashes(fields: Mapping[Any, Any]) -> tuple[int, ...]:
    return tuple([engine_hash(item) for item in _list(fields["block_hashes"], "block_hashes")])


def _tokens(content: Any) -> tuple[int, ...]:
    tokens = _list([] if content is None else content, "token_ids")
    for token in tokens:
        if type(token) is not int or not 0 <= token < _TOKEN_LIMIT:
            raise EventError(f"token_ids: {show(token)} is not a token: a number from 0 to {_TOKEN_LIMIT - 1}")
    return tuple(tokens)


def _extras(content: Any) -> tuple[tuple[ExtraKey, ...], ...]:
    if content is None:
        return ()
    blocks = [() if block is None else _extras_of_block(_list(block, "extra_keys")) for block in _list(content, "extra_keys")]
    return tuple(blocks) if any(blocks) else ()


def _extras_of_block(entries: Sequence[Any]) -> tuple[ExtraKey, ...]:
    found: list[ExtraKey] = []
    for entry in entries:
        match entry:
            case str():
                found.append(ExtraKey(entry))
            case [str() as name, str() as salt] if name == _SALT:  # newer versions name the salt
                found.append(ExtraKey(salt))
            case [str() as text, int() as offset]:
                found.append(ExtraKey(text, offset))
            case _:
                pass
    return tuple(found)


def _list(content: Any, name: str) -> list[Any]:
    if not isinstance(content, list):
        raise EventError(f"{name}: {show(content)} is not an array")
    return cast("list[Any]", content)


def _optional(kind: type[T], content: Any, name: str) -> T | None:
    if content is None or (isinstance(content, kind) and not isinstance(content, bool)):
        return content
    raise EventError(f"{name}: {show(content)} is not of type {kind.__name__}")
