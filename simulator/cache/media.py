"""Least-recently-used maps from a media hash to its cost, with a budget."""

from collections import OrderedDict
from typing import Generic, TypeVar

Item = TypeVar("Item")


class MediaCache(Generic[Item]):
    """Holds items while their costs fit into `budget`; 0 holds nothing."""

    def __init__(self, budget: float) -> None:
        self.budget = budget
        self.used = 0.0
        self._items: OrderedDict[str, float] = OrderedDict()
        self._known: dict[str, Item] = {}  # items that can be asked for by name

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, digest: object) -> bool:
        return digest in self._items

    def touch(self, digest: str) -> bool:
        """Whether the item is held; a hit makes it the newest."""
        if digest not in self._items:
            return False
        self._items.move_to_end(digest)
        return True

    def item(self, digest: str) -> Item | None:
        """The item itself, where it was given."""
        return self._known.get(digest)

    def put(self, digest: str, cost: float, item: Item | None = None) -> None:
        """Hold an item, dropping the oldest ones; one larger than the budget is not held."""
        if digest in self._items or cost > self.budget:
            return
        while self._items and self.used + cost > self.budget:
            oldest, freed = self._items.popitem(last=False)
            self.used -= freed
            self._known.pop(oldest, None)
        self._items[digest] = cost
        if item is not None:
            self._known[digest] = item
        self.used += cost

    def newest(self, limit: int) -> list[str]:
        """Hashes, newest first."""
        return list(reversed(self._items))[:limit]

    def clear(self) -> None:
        """Hold nothing."""
        self._items.clear()
        self._known.clear()
        self.used = 0.0
