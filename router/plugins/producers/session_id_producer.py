"""Publishes the id of the session a request belongs to, from a header or a cookie."""

from dataclasses import dataclass
from typing import Any

from router.framework.attributes.key import DataKey
from router.framework.attributes.session import session_id
from router.framework.control import DataProducer
from router.framework.errors import ConfigError
from router.framework.parsing import Payload
from router.framework.plugin import Handle
from router.framework.request import InferenceRequest

TYPE = "session-id-producer"
_COOKIE = "cookie"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    header_name: str = ""
    cookie_name: str = ""

    def __post_init__(self) -> None:
        if bool(self.header_name) == bool(self.cookie_name):
            raise ConfigError("exactly one of headerName and cookieName is given", field="headerName")


class SessionIdProducer(DataProducer):
    """Writes the request attribute when there is a value."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._header = parameters.header_name.lower()
        self._cookie = parameters.cookie_name
        self._key = session_id(name)

    def produces(self) -> frozenset[DataKey[Any]]:
        """The session id."""
        return frozenset({self._key})

    async def prepare(self, request: InferenceRequest, payload: Payload) -> None:
        """Look it up."""
        value = request.headers.get(self._header, "") if self._header else self._from_cookies(request.headers.get(_COOKIE, ""))
        if value:
            request.write(self._key, value)

    def _from_cookies(self, cookies: str) -> str:
        pairs = (cookie.strip().partition("=") for cookie in cookies.split(";"))
        return next((value.strip('"') for name, _, value in pairs if name == self._cookie), "")
