"""Roles of endpoints, as their pod label says."""

from collections.abc import Sequence
from dataclasses import dataclass

from router.framework.endpoint import Endpoint
from router.wire import ROLE_LABEL

_ALL = ("encode-prefill-decode",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Which role labels can serve a stage."""

    roles: frozenset[str]
    unlabelled: bool = False  # whether a pod without the label can

    def able(self, endpoints: Sequence[Endpoint]) -> list[Endpoint]:
        """The endpoints that can, in order."""
        roles = self.roles | {None} if self.unlabelled else self.roles
        return [endpoint for endpoint in endpoints if endpoint.metadata.labels.get(ROLE_LABEL) in roles]


ENCODE = Stage(roles=frozenset({"encode", "encode-prefill", *_ALL}))
PREFILL = Stage(roles=frozenset({"prefill", "encode-prefill", "prefill-decode", "both", *_ALL}))
DECODE = Stage(roles=frozenset({"decode", "prefill-decode", "both", *_ALL}), unlabelled=True)
