"""Where requests without a body go: any endpoint will do, so they spread evenly."""

from collections.abc import Sequence
from random import Random

from router import wire
from router.engine.control.candidates import Candidates, no_candidates
from router.framework.compat import Compat
from router.framework.endpoint import LiveEndpoint
from router.framework.errors import ErrorCode, RequestError

# Workers of these roles alone do not answer requests for a client.
_STAGE_ONLY_ROLES = frozenset(("encode", "prefill", "encode-prefill"))


class RandomRoute:
    """Picks the endpoint that was picked longest ago; at random where the reference's behaviour is wanted."""

    def __init__(self, candidates: Candidates, *, random: Random, compat: Compat) -> None:
        self._candidates = candidates
        self._random = random
        self._reference = compat.reference
        self._picks = 0
        self._picked_at: dict[str, int] = {}

    def pick(self, subset: Sequence[object] | None) -> str:
        """`host:port` of an endpoint; raises RequestError for an empty pool or subset."""
        members = self._candidates.live(None)
        if not members:
            raise RequestError(ErrorCode.Internal, "no pods available in datastore")
        if self._reference:
            return self._random.choice(members).metadata.host_port
        candidates = self._candidates.live(subset)
        if not candidates:
            raise no_candidates()
        return self._longest_ago(_answering(candidates)).metadata.host_port

    def _longest_ago(self, candidates: Sequence[LiveEndpoint]) -> LiveEndpoint:
        chosen = min(candidates, key=lambda endpoint: self._picked_at.get(endpoint.metadata.id, 0))
        self._picks += 1
        if len(self._picked_at) > 2 * len(self._candidates.live(None)):  # members that are gone
            self._picked_at.clear()
        self._picked_at[chosen.metadata.id] = self._picks
        return chosen


def _answering(candidates: Sequence[LiveEndpoint]) -> Sequence[LiveEndpoint]:
    """Those that serve clients; all of them when none does."""
    return [e for e in candidates if e.metadata.labels.get(wire.ROLE_LABEL) not in _STAGE_ONLY_ROLES] or candidates
