"""The endpoint that served a request according to the proxy, a request attribute set with the response headers."""

from router.framework.attributes.key import DataKey

PRODUCER = "proxy"


def served_endpoint() -> DataKey[str]:
    """Key of the request attribute: an address as the proxy writes it."""
    return DataKey("ServedEndpoint", PRODUCER, str)
