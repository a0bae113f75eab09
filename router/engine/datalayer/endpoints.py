"""The endpoints of the pool as they are now. Discovery writes it, requests and the collector read it."""

import logging
from collections.abc import Iterable, Sequence
from typing import Literal

from router.framework.control import EndpointListener
from router.framework.endpoint import EndpointMetadata, LiveEndpoint

_log = logging.getLogger(__name__)


class Endpoints:
    """A set of live endpoints by id. Listeners hear of a change before a request can see it."""

    def __init__(self, listeners: Sequence[EndpointListener] = ()) -> None:
        self._listeners = tuple(listeners)
        self._by_id: dict[str, LiveEndpoint] = {}
        self._all: tuple[LiveEndpoint, ...] = ()

    def all(self) -> tuple[LiveEndpoint, ...]:
        """Every endpoint, oldest first. The same tuple until the set changes."""
        return self._all

    def get(self, endpoint_id: str) -> LiveEndpoint | None:
        """The endpoint with this id, if it is a member."""
        return self._by_id.get(endpoint_id)

    def upsert(self, metadata: EndpointMetadata) -> LiveEndpoint:
        """Make the endpoint a member and return it.

        A pod made anew, or one that answers elsewhere, is a new instance: nothing learnt of the old one holds for it. Any other
        change, such as of labels, keeps the instance.
        """
        known = self._by_id.get(metadata.id)
        if known is not None:
            if _same_instance(known.metadata, metadata):
                known.metadata = metadata
                return known
            self._drop(known)
        endpoint = LiveEndpoint(metadata=metadata)
        self._tell("endpoint_added", endpoint)
        self._by_id[metadata.id] = endpoint
        self._all = tuple(self._by_id.values())
        return endpoint

    def remove(self, endpoint_id: str) -> None:
        """End the membership; an id that is not a member is ignored."""
        known = self._by_id.get(endpoint_id)
        if known is not None:
            self._drop(known)

    def replace_all(self, wanted: Iterable[EndpointMetadata]) -> None:
        """Make `wanted` the whole set; of entries with the same id the last counts."""
        by_id = {metadata.id: metadata for metadata in wanted}
        for endpoint_id in [known for known in self._by_id if known not in by_id]:
            self.remove(endpoint_id)
        for metadata in by_id.values():
            self.upsert(metadata)

    def clear(self) -> None:
        """End every membership."""
        self.replace_all(())

    def _drop(self, endpoint: LiveEndpoint) -> None:
        self._tell("endpoint_removed", endpoint)
        del self._by_id[endpoint.metadata.id]
        self._all = tuple(self._by_id.values())

    def _tell(self, event: Literal["endpoint_added", "endpoint_removed"], endpoint: LiveEndpoint) -> None:
        """One listener that fails keeps neither the others nor the pool from knowing."""
        for listener in self._listeners:
            try:
                getattr(listener, event)(endpoint)
            except Exception:
                _log.exception("endpoint listener failed", extra={"fields": {"plugin": listener.name, "endpoint": endpoint.metadata.id}})


def _same_instance(known: EndpointMetadata, now: EndpointMetadata) -> bool:
    return (known.uid, known.address, known.port) == (now.uid, now.address, now.port)
