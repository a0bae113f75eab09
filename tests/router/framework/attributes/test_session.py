from router.framework.attributes.session import session_id


def test_the_key_names_its_producer() -> None:
    assert session_id("mine").text == "SessionID/mine"
