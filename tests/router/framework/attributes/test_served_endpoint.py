from router.framework.attributes.served_endpoint import served_endpoint


def test_the_key_holds_an_address() -> None:
    assert served_endpoint().value_type is str
