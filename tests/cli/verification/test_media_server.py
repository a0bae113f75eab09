import aiohttp
import pytest

from cli.verification.media_server import serve_picture


async def test_a_picture_has_a_url_as_long_as_it_is_needed() -> None:
    async with aiohttp.ClientSession() as session:
        async with serve_picture(b"bytes", "image/png", "green.png") as url, session.get(url) as response:
            assert await response.read() == b"bytes"
            assert response.content_type == "image/png"

        assert url.startswith("http://127.0.0.1:")
        assert url.endswith("/green.png")
        with pytest.raises(aiohttp.ClientConnectionError):
            await session.get(url)
