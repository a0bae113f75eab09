from router.engine.control.context import RequestContext
from router.payloads.opaque import OpaquePayload


def test_first_filled_header_counts() -> None:
    headers = {"old": "o", "new": "n", "empty": ""}
    context = RequestContext(
        id="1", external_id="1", headers=headers, payload=OpaquePayload(raw=b""), size_bytes=0, received_at=0, subset=None
    )

    assert context.header(("new", "old")) == "n"
    assert context.header(("empty", "old")) == "o"
    assert context.header(("none",)) == ""
