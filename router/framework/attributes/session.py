"""Which session a request belongs to, a request attribute."""

from router.framework.attributes.key import DataKey

PRODUCER = "session-id-producer"
DATA_TYPE = "SessionID"


def session_id(producer: str = PRODUCER) -> DataKey[str]:
    """Key of the request attribute; a client chooses its value."""
    return DataKey(DATA_TYPE, producer, str)
