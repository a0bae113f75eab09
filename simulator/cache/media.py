"""Least-recently-used maps from a media hash to its cost, with a budget."""

from collections import OrderedDict


class MediaCache:
    """Holds items while their costs fit into `budget`; 0 holds nothing."""

    def __init__(self, budget: float) -> None:
        self.budget = budget
        self.used = 0.0
        self._items: OrderedDict[str, float] = OrderedDict()

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

    def put(self, digest: str, cost: float) -> None:
        """Hold an item, dropping the oldest ones; one larger than the budget is not held."""
        if digest in self._items or cost > self.budget:
            return
        while self._items and self.used + cost > self.budget:
            self.used -= self._items.popitem(last=False)[1]
        self._items[digest] = cost
        self.used += cost

    def newest(self, limit: int) -> list[str]:
        """Hashes, newest first."""
        return list(reversed(self._items))[:limit]

    def clear(self) -> None:
        """Hold nothing."""
        self._items.clear()
        self.used = 0.0
