"""How much of a request's prompt an endpoint is thought to hold, an endpoint attribute of one request."""

from dataclasses import dataclass

from router.framework.attributes.key import DataKey

PRODUCER = "approx-prefix-cache-producer"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixMatch:
    """Counts in blocks of `block_size_tokens` tokens; the last block of a prompt may be partial."""

    matched_blocks: int
    total_blocks: int
    block_size_tokens: int
    cached_blocks: int = 0  # unweighted; equals matched_blocks where blocks have no tiers

    @property
    def ratio(self) -> float:
        """matched/total, 0 for an empty prompt."""
        return self.matched_blocks / self.total_blocks if self.total_blocks else 0.0


def prefix_match(producer: str = PRODUCER) -> DataKey[PrefixMatch]:
    """Key of the endpoint attribute."""
    return DataKey("PrefixMatch", producer, PrefixMatch)
