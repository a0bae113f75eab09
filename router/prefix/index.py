"""Which endpoint is thought to hold which block, from the engine's own decisions.

One dictionary maps a block's hash to a bit mask of its holders, so a look-up costs the same for one endpoint and for hundreds.
Each holder has a least-recently-recorded order of its own with a fixed capacity.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

H = TypeVar("H", bound=Hashable)


@dataclass(slots=True)
class _Holder:
    bit: int
    capacity: int = 0  # 0: nothing recorded yet
    blocks: OrderedDict[int, None] = field(default_factory=OrderedDict[int, None])


class PrefixIndex(Generic[H]):
    """Blocks by holder and holders by block. Holders are any hashable things, told apart by equality."""

    def __init__(self) -> None:
        self._masks: dict[int, int] = {}
        self._holders: dict[H, _Holder] = {}
        self._by_bit: dict[int, H] = {}
        self._entries = 0

    def __len__(self) -> int:
        """Entries over all holders."""
        return self._entries

    def add(self, holder: H) -> None:
        """Make room for a holder; nothing is recorded for one that was not added."""
        if holder not in self._holders:
            bit = next(candidate for candidate in _bits() if candidate not in self._by_bit)
            self._holders[holder] = _Holder(bit)
            self._by_bit[bit] = holder

    def remove(self, holder: H) -> None:
        """Forget a holder and everything it held."""
        gone = self._holders.pop(holder, None)
        if gone is not None:
            del self._by_bit[gone.bit]
            for block in gone.blocks:
                self._clear(block, gone.bit)

    def record(self, holder: H, hashes: Sequence[int], capacity: int) -> None:
        """`holder` now has these blocks, the last one most recently. `capacity` counts at the first recording only."""
        entry = self._holders.get(holder)
        if entry is None:
            return
        entry.capacity = entry.capacity or max(capacity, 1)
        blocks, masks, bit = entry.blocks, self._masks, entry.bit
        for block in hashes:
            if block in blocks:
                blocks.move_to_end(block)
            else:
                blocks[block] = None
                masks[block] = masks.get(block, 0) | bit
                self._entries += 1
        while len(blocks) > entry.capacity:
            self._clear(blocks.popitem(last=False)[0], bit)

    def holds(self, holder: H, block: int) -> bool:
        """Whether `holder` is thought to have `block`."""
        entry = self._holders.get(holder)
        return entry is not None and block in entry.blocks

    def blocks_of(self, holder: H) -> int:
        """Number of blocks of one holder."""
        entry = self._holders.get(holder)
        return len(entry.blocks) if entry else 0

    def sizes(self) -> list[tuple[H, int]]:
        """Every holder with the number of its blocks."""
        return [(holder, len(entry.blocks)) for holder, entry in self._holders.items()]

    def unbroken(self, hashes: Sequence[int]) -> dict[H, int]:
        """How many leading blocks each holder has; holders of none are left out."""
        masks = self._masks
        matched: dict[H, int] = {}
        alive = masks.get(hashes[0], 0) if hashes else 0
        for position, block in enumerate(hashes):
            still = alive & masks.get(block, 0)
            if still != alive:
                self._count(matched, alive ^ still, position)
                alive = still
            if not alive:
                return matched
        self._count(matched, alive, len(hashes))
        return matched

    def anywhere(self, hashes: Sequence[int]) -> dict[H, int]:
        """How many blocks each holder has before the first one that nobody has, as the reference counts."""
        matched: dict[H, int] = {}
        run_mask, run_length = 0, 0
        for block in hashes:
            mask = self._masks.get(block, 0)
            if mask == run_mask:
                run_length += 1
            else:
                self._count(matched, run_mask, run_length)
                run_mask, run_length = mask, 1
            if not mask:
                break
        self._count(matched, run_mask, run_length)
        return matched

    def _count(self, matched: dict[H, int], mask: int, blocks: int) -> None:
        while mask and blocks:
            bit = mask & -mask
            mask ^= bit
            holder = self._by_bit[bit]
            matched[holder] = matched.get(holder, 0) + blocks

    def _clear(self, block: int, bit: int) -> None:
        left = self._masks[block] & ~bit
        self._entries -= 1
        if left:
            self._masks[block] = left
        else:
            del self._masks[block]


def _bits() -> Iterator[int]:
    bit = 1
    while True:
        yield bit
        bit <<= 1
