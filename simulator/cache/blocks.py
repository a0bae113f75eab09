"""KV blocks and the prefix cache over them.

A block is free or referenced. A free block keeps its hash, so that a later prompt can take it up again, until it is handed out for
something else; the block freed longest ago goes first.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256


def chain_hash(parent: bytes, tokens: bytes, extras: Sequence[str]) -> bytes:
    """SHA-256 of a full block: its parent's hash, its packed token ids, and what else decides its content."""
    return sha256(b"\0".join((parent, tokens, *(extra.encode() for extra in extras)))).digest()


@dataclass(slots=True)
class Block:
    """One KV block."""

    index: int
    references: int = 0
    hash: bytes | None = None


@dataclass(slots=True)
class BlockTable:
    """Blocks one sequence holds, in order."""

    blocks: list[Block] = field(default_factory=list[Block])


class BlockPool:
    """A fixed number of blocks of `block_size` tokens."""

    def __init__(self, *, count: int, block_size: int, caching: bool) -> None:
        self.count, self.block_size, self.caching = count, block_size, caching
        self._free: OrderedDict[int, Block] = OrderedDict((i, Block(i)) for i in range(count))
        self._cached: dict[bytes, Block] = {}

    @property
    def free(self) -> int:
        """Blocks nobody references, cached or not."""
        return len(self._free)

    @property
    def usage(self) -> float:
        """Share of blocks that are referenced, 0..1."""
        return (self.count - len(self._free)) / self.count if self.count else 0.0

    @property
    def cached(self) -> int:
        """Blocks with a hash."""
        return len(self._cached)

    def match(self, hashes: Sequence[bytes]) -> list[Block]:
        """The longest run of cached blocks from the first hash on; takes no reference."""
        found: list[Block] = []
        for digest in hashes:
            block = self._cached.get(digest)
            if block is None:
                break
            found.append(block)
        return found

    def newly_needed(self, matched: Sequence[Block]) -> int:
        """How many of `matched` would leave the free list."""
        return sum(1 for block in matched if not block.references)

    def take(self, table: BlockTable, matched: Sequence[Block]) -> None:
        """Reference cached blocks."""
        for block in matched:
            if not block.references:
                del self._free[block.index]
            block.references += 1
            table.blocks.append(block)

    def grow(self, table: BlockTable, tokens: int) -> bool:
        """Give `table` room for `tokens` tokens in all; False, and nothing done, when there are not enough free blocks."""
        missing = -(-tokens // self.block_size) - len(table.blocks)
        if missing > len(self._free):
            return False
        for _ in range(missing):
            _, block = self._free.popitem(last=False)
            if block.hash is not None:
                del self._cached[block.hash]
                block.hash = None
            block.references = 1
            table.blocks.append(block)
        return True

    def remember(self, table: BlockTable, position: int, digest: bytes) -> None:
        """The block at `position` is full and computed: later prompts may find it."""
        if not self.caching or digest in self._cached:
            return
        block = table.blocks[position]
        if block.hash is None:
            block.hash = digest
            self._cached[digest] = block

    def release(self, table: BlockTable) -> None:
        """Give everything back, the end of the prompt first in line for reuse."""
        for block in reversed(table.blocks):
            block.references -= 1
            if not block.references:
                self._free[block.index] = block
        table.blocks.clear()

    def forget(self) -> None:
        """Drop every hash; references stay."""
        for block in self._cached.values():
            block.hash = None
        self._cached.clear()
