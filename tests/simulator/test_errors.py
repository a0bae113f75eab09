import pytest

from simulator.errors import ApiError


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "BadRequestError"), (404, "NotFoundError"), (422, "UnprocessableEntityError"), (503, "ServiceUnavailableError")],
)
def test_body_has_vllms_shape(status: int, kind: str) -> None:
    assert ApiError(status, "why", param="p").body() == {"error": {"message": "why", "type": kind, "param": "p", "code": status}}


def test_kind_can_be_given() -> None:
    assert ApiError(400, "x", kind="Bad Request").kind == "Bad Request"


def test_the_flat_form_of_older_versions() -> None:
    assert ApiError(404, "why").body("flat") == {"object": "error", "message": "why", "type": "NotFoundError", "param": None, "code": 404}
