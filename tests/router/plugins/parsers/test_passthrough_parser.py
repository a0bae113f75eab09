from router.framework.plugin import NoParameters
from router.plugins.parsers.passthrough_parser import PassthroughParser
from tests.support.engine import make_handle


def parser() -> PassthroughParser:
    return PassthroughParser("passthrough-parser", NoParameters(), make_handle())


def test_it_is_the_fallback() -> None:
    assert parser().claims() == ()
    assert parser().protocols() == {"http", "kubernetes.io/h2c"}


def test_body_stays_unread() -> None:
    body = b"\x00\xff"

    payload = parser().parse(body, "/x", {})

    assert payload.raw is body
    assert payload.model == ""


def test_no_usage_is_read() -> None:
    reader = parser().usage_reader(parser().parse(b"", "/x", {}), streaming=False)
    reader.feed(b'{"usage":{"prompt_tokens":1}}')

    assert reader.usage() is None
