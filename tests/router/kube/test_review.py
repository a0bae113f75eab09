from typing import Any

import pytest

from router.kube.access import Access
from router.kube.client import KubeClient
from router.kube.review import REMEMBER_SECONDS, Reviewer
from tests.support.api_server import ApiServer
from tests.support.engine import FakeClock

KNOWN = {"authenticated": True, "user": {"username": "scraper", "groups": ["g"]}}


@pytest.mark.parametrize(
    ("authorization", "identity", "access", "status"),
    [
        pytest.param("Bearer t", KNOWN, {"allowed": True}, 200, id="allowed"),
        pytest.param("bearer t", KNOWN, {"allowed": True}, 200, id="scheme-in-lower-case"),
        pytest.param("Bearer t", KNOWN, {"allowed": False}, 403, id="not-allowed"),
        pytest.param("Bearer t", {"authenticated": False}, {"allowed": True}, 401, id="unknown-token"),
        pytest.param("", KNOWN, {"allowed": True}, 401, id="no-token"),
        pytest.param("Basic dDp0", KNOWN, {"allowed": True}, 401, id="other-scheme"),
        pytest.param("Bearer t", None, None, 401, id="api-server-refuses"),
    ],
)
async def test_both_reviews_decide(authorization: str, identity: Any, access: Any, status: int) -> None:
    async with ApiServer().run() as server, KubeClient(Access(server=server.url)) as client:
        if identity is not None:
            server.reviews = {"tokenreviews": identity, "subjectaccessreviews": access}

        assert await Reviewer(client, FakeClock())(authorization, "/metrics") == status


async def test_an_answer_is_remembered_for_a_while() -> None:
    clock = FakeClock()
    async with ApiServer().run() as server, KubeClient(Access(server=server.url)) as client:
        server.reviews = {"tokenreviews": KNOWN, "subjectaccessreviews": {"allowed": True}}
        review = Reviewer(client, clock)
        await review("Bearer t", "/metrics")
        server.reviews = {"tokenreviews": {"authenticated": False}}

        assert await review("Bearer t", "/metrics") == 200
        assert await review("Bearer t", "/debug/tasks") == 401
        clock.now += REMEMBER_SECONDS
        assert await review("Bearer t", "/metrics") == 401
