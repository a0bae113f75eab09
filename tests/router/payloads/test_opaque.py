import pytest

from router.framework.errors import RequestError
from router.payloads.opaque import OpaquePayload


def test_opaque_body_names_nothing() -> None:
    payload = OpaquePayload(raw=b"\x00")

    assert (payload.model, payload.stream, payload.max_output_tokens, payload.skip_response) == ("", False, None, False)
    assert not payload.rewritable


def test_its_model_cannot_be_set() -> None:
    with pytest.raises(RequestError, match='model "x" cannot be set'):
        OpaquePayload(raw=b"").with_model("x")
