"""Who may read: asks the API server about a bearer token, as `kubectl auth can-i` would."""

from collections.abc import Mapping
from typing import Any, Protocol

from router.framework.plugin import Clock
from router.kube.client import KubeError

IDENTITY_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
REMEMBER_SECONDS = 60.0
MAX_REMEMBERED = 1000
OK, UNAUTHORIZED, FORBIDDEN = 200, 401, 403


class Creates(Protocol):
    """What a review needs of the API server."""

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to an object that is created. Raises KubeError."""
        ...


class Reviewer:
    """Decides who may GET a path. Answers are remembered for a minute, since scrapes come often."""

    def __init__(self, calls: Creates, clock: Clock) -> None:
        self._calls = calls
        self._clock = clock
        self._remembered: dict[tuple[str, str], tuple[float, int]] = {}

    async def __call__(self, authorization: str, path: str) -> int:
        """200, 401 without a valid token, or 403; no answer from the API server means 401."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return UNAUTHORIZED
        key = (token.strip(), path)
        until, status = self._remembered.get(key, (0.0, UNAUTHORIZED))
        if self._clock() < until:
            return status
        try:
            status = await self._ask(*key)
        except KubeError:
            return UNAUTHORIZED
        if len(self._remembered) >= MAX_REMEMBERED:
            self._remembered.clear()
        self._remembered[key] = (self._clock() + REMEMBER_SECONDS, status)
        return status

    async def _ask(self, token: str, path: str) -> int:
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
        known = (await self._calls.post(IDENTITY_REVIEWS, review)).get("status") or {}
        if not known.get("authenticated"):
            return UNAUTHORIZED
        user = known.get("user") or {}
        spec = {
            "user": user.get("username", ""),
            "groups": user.get("groups") or [],
            "uid": user.get("uid", ""),
            "extra": user.get("extra") or {},
            "nonResourceAttributes": {"path": path, "verb": "get"},
        }
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
        allowed = (await self._calls.post(ACCESS_REVIEWS, review)).get("status") or {}
        return OK if allowed.get("allowed") else FORBIDDEN
