import json

import pytest

from router.engine.extproc.replies import refusal
from router.framework.compat import Compat
from router.framework.errors import DroppedReason, ErrorCode, RequestError


@pytest.mark.parametrize("code", list(ErrorCode))
def test_error_is_json_of_the_model_server_s_shape(code: ErrorCode) -> None:
    reply = refusal(RequestError(code, 'why "it" failed'), Compat())

    assert reply.status == code.value
    assert reply.headers == (("content-type", "application/json"),)
    assert json.loads(reply.body) == {"error": {"message": 'why "it" failed', "type": f"{code.name}Error", "code": code.value}}


def test_J80_reference_answers_plain_text() -> None:
    reply = refusal(RequestError(ErrorCode.BadRequest, "invalid model name"), Compat(reference=True))

    assert (reply.status, reply.headers) == (400, ())
    assert reply.body == b"inference error: BadRequest - invalid model name"


@pytest.mark.parametrize("reason", list(DroppedReason))
def test_dropped_request_says_why(reason: DroppedReason) -> None:
    reply = refusal(RequestError(ErrorCode.ResourceExhausted, "full", reason), Compat())

    assert dict(reply.headers)["x-llm-d-request-dropped-reason"] == reason.value
