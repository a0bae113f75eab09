"""Gets media URLs, with the answers real vLLM gives when that fails."""

import asyncio

import aiohttp

from simulator.errors import ApiError

TIMEOUT_SECONDS = 5.0


class HttpFetcher:
    """Fetches over one shared session."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def fetch(self, url: str) -> bytes:
        """The body of `url`. Raises ApiError."""
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS), self._session.get(url) as response:
                if response.status >= 400:
                    message = f"Failed to fetch media from URL: HTTP {response.status} error"
                    raise ApiError(422, message, param="image_url")
                return await response.read()
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise ApiError(500, f"Cannot connect to host of {url[:200]}: {error}") from error
