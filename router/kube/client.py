"""Calls to the API server: plain JSON over HTTP, and watches line by line."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any, Self, cast

import aiohttp

from router.framework.errors import ConfigError, RouterError
from router.kube.access import Access

REQUEST_TIMEOUT_SECONDS = 30.0
CONNECT_TIMEOUT_SECONDS = 10.0
MAX_EVENT_BYTES = 8 * 1024 * 1024  # objects are below 3 MiB; a watch line holds one


class KubeError(RouterError):
    """A call that failed; `status` is the HTTP status, 0 when there was no answer."""

    def __init__(self, message: str, status: int = 0) -> None:
        self.status = status
        super().__init__(message)


class KubeClient:
    """One session with the API server; an asynchronous context manager."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(ssl=self._access.tls) if self._access.tls else aiohttp.TCPConnector()
        self._session = aiohttp.ClientSession(connector=connector, read_bufsize=256 * 1024)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def get(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        """A JSON object. Raises KubeError."""
        return await self._json("GET", path, query, None)

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to an object that is created. Raises KubeError."""
        return await self._json("POST", path, {}, body)

    async def lines(self, path: str, query: Mapping[str, str], idle_seconds: float) -> AsyncIterator[dict[str, Any]]:
        """Objects of a stream, one a line, until the server ends it. Raises KubeError, also for a line that is cut off."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_SECONDS, sock_read=idle_seconds)
        try:
            async with self._open().get(self._access.server + path, params=query, headers=self._headers(), timeout=timeout) as answer:
                await _check(answer)
                async for line in _lines(answer.content):
                    yield _object(line)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise KubeError(f"watch was interrupted: {error!r}") from None

    async def _json(self, method: str, path: str, query: Mapping[str, str], body: Any) -> dict[str, Any]:
        timeout = aiohttp.ClientTimeout(total=REQUEST_TIMEOUT_SECONDS, sock_connect=CONNECT_TIMEOUT_SECONDS)
        try:
            async with self._open().request(
                method, self._access.server + path, params=query, json=body, headers=self._headers(), timeout=timeout
            ) as answer:
                await _check(answer)
                return _object(await answer.read())
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise KubeError(f"no answer from {self._access.server}: {error!r}") from None

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise KubeError("session is closed")
        return self._session

    def _headers(self) -> dict[str, str]:
        try:
            token = self._access.token()
        except ConfigError as error:
            raise KubeError(str(error)) from None
        return {"Accept": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}


async def _check(answer: aiohttp.ClientResponse) -> None:
    if answer.status >= 300:
        text = (await answer.text(errors="replace"))[:500]
        with contextlib.suppress(ValueError, AttributeError):
            text = str(json.loads(text).get("message", text))
        raise KubeError(f"status {answer.status}: {text}", answer.status)


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Whole lines however long; the rest after the last newline is yielded too, it is a cut line."""
    buffer = bytearray()
    async for chunk in content.iter_any():
        buffer += chunk
        *whole, rest = buffer.split(b"\n")
        buffer = bytearray(rest)
        for line in whole:
            if line.strip():
                yield bytes(line)
        if len(buffer) > MAX_EVENT_BYTES:
            raise KubeError(f"event is larger than {MAX_EVENT_BYTES} bytes")
        await asyncio.sleep(0)
    if buffer.strip():
        yield bytes(buffer)


def _object(text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        raise KubeError("answer is not JSON, or was cut off") from None
    if not isinstance(found, dict):
        raise KubeError("answer is not an object")
    return cast("dict[str, Any]", found)
