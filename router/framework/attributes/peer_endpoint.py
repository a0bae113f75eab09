"""The endpoint that an earlier stage of a request chose, a request attribute."""

from router.framework.attributes.key import DataKey
from router.framework.endpoint import Endpoint

PRODUCER = "disagg-profile-handler"


def peer_endpoint() -> DataKey[Endpoint]:
    """Key of the request attribute; only one profile handler exists, so one key is enough."""
    return DataKey("peer-endpoint", PRODUCER, Endpoint)
