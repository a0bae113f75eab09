"""Sends chat requests to a stack and says what came back; a refusal or a broken connection is an answer too."""

import io
import json
import time
from dataclasses import dataclass, replace
from typing import Any

import aiohttp

from cli.verification.requests import ChatRequest
from local.errors import LocalError

PATH = "/v1/chat/completions"
MODELS_PATH = "/v1/models"
TIMEOUT_SECONDS = 120.0
MODELS_TIMEOUT_SECONDS = 10.0
SHOWN_CHARACTERS = 200
DATA = "data:"
END = "[DONE]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one request was answered with. `status` 0: no HTTP answer at all, `text` then says why."""

    status: int
    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    chunks: int = 0
    ended: bool = False
    seconds: float = 0

    @property
    def shown(self) -> str:
        """The answer in a few words for a report."""
        words = " ".join(self.text.split())
        return f"HTTP {self.status}: {words[:SHOWN_CHARACTERS]}" if self.status else words[:SHOWN_CHARACTERS]


class Client:
    """Talks to one stack."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url.rstrip("/")

    async def ask(self, request: ChatRequest) -> Answer:
        """Send a request that is answered in one piece."""
        return await self._send(request, _whole)

    async def stream(self, request: ChatRequest) -> Answer:
        """Send a request that is answered in chunks."""
        return await self._send(request, _chunked)

    async def models(self) -> list[str]:
        """The names of the served models, at least one; raises LocalError that says why they cannot be had."""
        url = f"{self._url}{MODELS_PATH}"
        try:
            async with self._session.get(url, timeout=aiohttp.ClientTimeout(total=MODELS_TIMEOUT_SECONDS)) as response:
                if response.status != 200:
                    raise LocalError(f"{url}: HTTP {response.status}")
                document: Any = await response.json(content_type=None)
            names = [model["id"] for model in document["data"]]
        except TimeoutError:
            raise LocalError(f"{url}: no answer within {MODELS_TIMEOUT_SECONDS:g} s") from None
        except (aiohttp.ClientError, OSError) as error:
            raise LocalError(f"{url}: no answer: {error}") from None
        except (ValueError, KeyError, TypeError):
            raise LocalError(f"{url}: the answer is no list of models") from None
        if not names:
            raise LocalError(f"{url}: the list of models is empty")
        return names

    async def _send(self, request: ChatRequest, read: Any) -> Answer:
        headers = {"Content-Type": "application/json", **request.headers}
        began = time.perf_counter()
        try:
            async with self._session.post(
                f"{self._url}{PATH}", data=io.BytesIO(request.body), headers=headers, timeout=aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)
            ) as response:
                if response.status != 200:
                    answer = Answer(status=response.status, text=await response.text(errors="replace"))
                else:
                    answer = await read(response)
        except TimeoutError:
            answer = Answer(status=0, text=f"no answer within {TIMEOUT_SECONDS:g} s")
        except (aiohttp.ClientError, OSError) as error:
            answer = Answer(status=0, text=f"no answer: {error}")
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            answer = Answer(status=200, text=f"not a chat completion: {type(error).__name__}: {error}")
        return _timed(answer, time.perf_counter() - began)


async def _whole(response: aiohttp.ClientResponse) -> Answer:
    document: Any = json.loads(await response.read())
    usage = document.get("usage") or {}
    return Answer(
        status=200,
        text=document["choices"][0]["message"]["content"],
        prompt_tokens=usage.get("prompt_tokens", 0),
        completion_tokens=usage.get("completion_tokens", 0),
        ended=True,
    )


async def _chunked(response: aiohttp.ClientResponse) -> Answer:
    words: list[str] = []
    usage: dict[str, Any] = {}
    chunks, ended = 0, False
    async for raw in response.content:
        line = raw.decode().strip()
        if not line.startswith(DATA):
            continue
        content = line.removeprefix(DATA).strip()
        if content == END:
            ended = True
            break
        event: Any = json.loads(content)
        usage = event.get("usage") or usage
        for choice in event.get("choices") or []:
            chunks += 1
            words.append((choice.get("delta") or {}).get("content") or "")
    return Answer(
        status=200,
        text="".join(words),
        prompt_tokens=usage.get("prompt_tokens", 0),
        completion_tokens=usage.get("completion_tokens", 0),
        chunks=chunks,
        ended=ended,
    )


def _timed(answer: Answer, seconds: float) -> Answer:
    return replace(answer, seconds=seconds)
