from router.framework.attributes.peer_endpoint import peer_endpoint
from router.framework.endpoint import Endpoint


def test_the_key_holds_an_endpoint() -> None:
    assert peer_endpoint().value_type is Endpoint
