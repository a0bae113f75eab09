"""The endpoints a request may go to."""

from collections.abc import Sequence

from router.engine.datalayer.endpoints import Endpoints
from router.framework.endpoint import Endpoint, LiveEndpoint
from router.framework.errors import DroppedReason, ErrorCode, RequestError

NO_CANDIDATES = "failed to find endpoint candidates for serving the request"


class Candidates:
    """Applies the proxy's subset hint to the pool."""

    def __init__(self, endpoints: Endpoints, *, ignore_subset: bool) -> None:
        """`ignore_subset`: the flag `--disable-endpoint-subset-filter`."""
        self._endpoints = endpoints
        self._ignore_subset = ignore_subset

    def live(self, subset: Sequence[object] | None) -> Sequence[LiveEndpoint]:
        """Members of the pool within `subset` (texts `ip:port` or `ip`; the port is ignored; other values are skipped)."""
        members = self._endpoints.all()
        if subset is None or self._ignore_subset:
            return members
        addresses = {address for entry in subset if isinstance(entry, str) for address in _addresses(entry)}
        return [endpoint for endpoint in members if endpoint.metadata.address in addresses]

    def views(self, subset: Sequence[object] | None) -> list[Endpoint]:
        """The same as one request's views, metadata and metrics as of now."""
        return [Endpoint(live) for live in self.live(subset)]

    def locate(self, subset: Sequence[object] | None) -> list[Endpoint]:
        """The candidates of a request; raises RequestError when there are none."""
        candidates = self.views(subset)
        if not candidates:
            raise no_candidates()
        return candidates


def no_candidates() -> RequestError:
    """The error for an empty pool or subset."""
    return RequestError(ErrorCode.ServiceUnavailable, NO_CANDIDATES, DroppedReason.NO_ENDPOINTS)


def _addresses(entry: str) -> tuple[str, ...]:
    """IPs that `ip:port`, `[ip]:port` or `ip` may mean; an IPv6 address without brackets can be read with and without port."""
    if entry.startswith("["):
        return (entry[1:].partition("]")[0],)
    return (entry, entry.rpartition(":")[0])
