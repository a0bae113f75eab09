from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.kvcache.events import (
    AllBlocksCleared,
    BlockRemoved,
    BlockStored,
    Event,
    EventBatch,
    EventError,
    ExtraKey,
    decode_batch,
    engine_hash,
)

STORED_MAP: dict[str, Any] = {
    "type": "BlockStored",
    "block_hashes": [4883, 1632],
    "parent_block_hash": 1735,
    "token_ids": [1, 2, 3, 4],
    "block_size": 2,
    "lora_id": None,
    "medium": "GPU",
    "lora_name": None,
    "extra_keys": [None, [["mm", 26]]],
    "group_idx": 0,
    "kv_cache_spec_kind": "full_attention",
}
STORED = BlockStored(
    hashes=(4883, 1632),
    parent=1735,
    tokens=(1, 2, 3, 4),
    block_tokens=2,
    medium="GPU",
    extras=((), (ExtraKey("mm", 26),)),
    group=0,
    kind="full_attention",
)


def packed(*events: Any) -> bytes:
    return msgspec.msgpack.encode([12.5, list(events), 0])


def only(event: Any) -> Event:
    (found,) = decode_batch(packed(event)).events
    return found


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(bytes(range(1, 33)), 1808788007904223008, id="M13"),
        pytest.param(b"\x01\x02", 258, id="M14"),
        pytest.param(-1, 18446744073709551615, id="M15"),
        pytest.param(2**64 - 1, 2**64 - 1, id="unsigned"),
    ],
)
def test_hash(value: Any, expected: int) -> None:
    assert engine_hash(value) == expected


@pytest.mark.parametrize("value", [b"", "text", None, True, 1.5], ids=repr)
def test_what_is_no_hash_is_refused(value: Any) -> None:
    with pytest.raises(EventError, match="not a block hash"):
        engine_hash(value)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        pytest.param(STORED_MAP, STORED, id="stored-map"),
        pytest.param(list(STORED_MAP.values()), STORED, id="stored-array"),
        pytest.param([*STORED_MAP.values(), 4096, "later"], STORED, id="trailing-fields-ignored"),
        pytest.param({**STORED_MAP, "later": 1}, STORED, id="unknown-key-ignored"),
        pytest.param(
            ["BlockStored", [1], None, [5], 1], BlockStored(hashes=(1,), tokens=(5,), block_tokens=1), id="trailing-defaults-missing"
        ),
        pytest.param(["BlockStored", [1], 0, [5], 1], BlockStored(hashes=(1,), tokens=(5,), block_tokens=1), id="parent-0-is-none"),
        pytest.param(["BlockRemoved", [7]], BlockRemoved(hashes=(7,)), id="removed-array"),
        pytest.param(["BlockRemoved", [b"\x01\x02"], "CPU", 1], BlockRemoved(hashes=(258,), medium="CPU", group=1), id="removed-bytes"),
        pytest.param(
            {"type": "BlockRemoved", "block_hashes": [1632], "medium": "GPU", "group_idx": 0},
            BlockRemoved(hashes=(1632,), medium="GPU", group=0),
            id="removed-map",
        ),
        pytest.param({"type": "AllBlocksCleared"}, AllBlocksCleared(), id="cleared-map"),
        pytest.param(["AllBlocksCleared"], AllBlocksCleared(), id="cleared-array"),
    ],
)
def test_event(event: Any, expected: Event) -> None:
    assert only(event) == expected


@pytest.mark.parametrize(
    ("extra_keys", "expected"),
    [
        pytest.param(None, (), id="none"),
        pytest.param([None, None], (), id="plain-text"),
        pytest.param([["tenant-a"], None], ((ExtraKey("tenant-a"),), ()), id="salt"),
        pytest.param([[["cache_salt", "tenant-a"]]], ((ExtraKey("tenant-a"),),), id="named-salt"),
        pytest.param([[["b", -6], ["a", 30]]], ((ExtraKey("b", -6), ExtraKey("a", 30)),), id="order-kept"),
        pytest.param([["x", 5, ["y"], [1, 2], None, b"z"]], ((ExtraKey("x"),),), id="others-ignored"),
    ],
)
def test_extra_keys(extra_keys: Any, expected: tuple[Any, ...]) -> None:
    event = only({**STORED_MAP, "extra_keys": extra_keys})

    assert isinstance(event, BlockStored)
    assert event.extras == expected


def test_batch() -> None:
    payload = msgspec.msgpack.encode([12.5, [["Novelty", 1], {"type": "AllBlocksCleared"}]])

    assert decode_batch(payload) == EventBatch(timestamp=12.5, events=(AllBlocksCleared(),))
    assert decode_batch(packed()).rank == 0


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        pytest.param(b"", "not msgpack", id="empty"),
        pytest.param(b"\xc1", "not msgpack", id="not-msgpack"),
        pytest.param(msgspec.msgpack.encode({"a": 1}), "not an array", id="map"),
        pytest.param(msgspec.msgpack.encode([1.0]), "timestamp", id="short"),
        pytest.param(msgspec.msgpack.encode(["x", []]), "timestamp", id="timestamp-text"),
        pytest.param(packed(5), "not an array", id="event-number"),
        pytest.param(packed([]), "no type", id="event-empty"),
        pytest.param(packed({"block_hashes": []}), "no type", id="event-untagged"),
        pytest.param(packed(["BlockStored", [1], None, [5]]), "no block_size", id="field-missing"),
        pytest.param(packed({"type": "BlockRemoved"}), "no block_hashes", id="field-missing-map"),
        pytest.param(packed(["BlockRemoved", [b""]]), "not a block hash", id="empty-hash"),
        pytest.param(packed(["BlockStored", [1], None, [-1], 1]), "not a token", id="token-negative"),
        pytest.param(packed(["BlockStored", [1], None, [2**32], 1]), "not a token", id="token-large"),
        pytest.param(packed(["BlockRemoved", [1], 3]), "medium", id="medium-number"),
    ],
)
def test_what_cannot_be_understood_is_refused(payload: bytes, said: str) -> None:
    with pytest.raises(EventError, match=said):
        decode_batch(payload)


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=5) | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*STORED_MAP]), inner, max_size=4),
    max_leaves=12,
)
tagged = st.tuples(st.sampled_from(["BlockStored", "BlockRemoved", "AllBlocksCleared", "Novelty"]), anything, anything, anything, anything)


@given(st.binary(max_size=60) | anything.map(msgspec.msgpack.encode) | st.lists(anything | tagged, max_size=3).map(lambda e: packed(*e)))
def test_no_message_causes_another_error(payload: bytes) -> None:
    with suppress(EventError):
        assert isinstance(decode_batch(payload), EventBatch)
