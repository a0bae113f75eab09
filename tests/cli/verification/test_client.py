from collections.abc import AsyncGenerator

import aiohttp
import pytest

from cli.verification.client import MODELS_PATH, PATH, Client
from cli.verification.pictures import COLOURS, PNG, data_url, png
from cli.verification.requests import ChatRequest, Requests
from local.errors import LocalError
from tests.support.loopback import serving, text
from tests.support.served import PROMPT_TOKENS, Served, served

REQUESTS = Requests("tiny/model")
PICTURE = data_url(png(COLOURS["red"]), PNG)


@pytest.fixture
async def session() -> AsyncGenerator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as opened:
        yield opened


async def test_an_answer_has_text_and_usage(session: aiohttp.ClientSession) -> None:
    async with served() as (_, url):
        answer = await Client(session, url).ask(REQUESTS.about_image(PICTURE))

    assert (answer.status, answer.text) == (200, "The image is red.")
    assert (answer.prompt_tokens, answer.completion_tokens) == (PROMPT_TOKENS, 4)
    assert answer.seconds > 0
    assert answer.shown == "HTTP 200: The image is red."


async def test_headers_of_a_request_are_sent(session: aiohttp.ClientSession) -> None:
    async with served() as (stack, url):
        await Client(session, f"{url}/").ask(REQUESTS.about_video("data:video/mp4;base64,AA=="))

    assert stack.headers[0]["x-llm-d-video-fps"] == "4"
    assert stack.headers[0]["content-type"] == "application/json"


async def test_a_stream_is_put_together(session: aiohttp.ClientSession) -> None:
    async with served() as (_, url):
        answer = await Client(session, url).stream(REQUESTS.streamed(PICTURE))

    assert answer.text == "The image is red. "
    assert (answer.chunks, answer.ended, answer.completion_tokens) == (4, True, 4)


async def test_a_stream_without_its_end_says_so(session: aiohttp.ClientSession) -> None:
    async with served(Served(mute_streams=True)) as (_, url):
        answer = await Client(session, url).stream(REQUESTS.streamed(PICTURE))

    assert not answer.ended


async def test_a_refusal_is_an_answer(session: aiohttp.ClientSession) -> None:
    async with served(Served(status=503)) as (_, url):
        answer = await Client(session, url).ask(REQUESTS.text_only())

    assert answer.status == 503
    assert answer.shown.startswith('HTTP 503: {"error"')


async def test_no_connection_is_an_answer(session: aiohttp.ClientSession) -> None:
    async with served() as (_, url):
        pass

    answer = await Client(session, url).ask(REQUESTS.text_only())

    assert answer.status == 0
    assert answer.shown.startswith("no answer: Cannot connect")


@pytest.mark.parametrize("content", ["not json", "{}", '{"choices": []}', "[]"])
async def test_what_is_no_chat_completion_is_said_to_be_none(session: aiohttp.ClientSession, content: str) -> None:
    async with serving({PATH: text(content)}) as url:
        answer = await Client(session, url).ask(ChatRequest(body=b"{}"))

    assert answer.text.startswith("not a chat completion")


async def test_models_are_listed(session: aiohttp.ClientSession) -> None:
    async with served() as (_, url):
        assert await Client(session, url).models() == ["tiny/model"]


NO_MODELS = {
    "elsewhere": ("/elsewhere", "{}", "HTTP 404"),
    "not-json": (MODELS_PATH, "<html>", "the answer is no list of models"),
    "a-list": (MODELS_PATH, "[]", "the answer is no list of models"),
    "empty": (MODELS_PATH, '{"data": []}', "the list of models is empty"),
}


@pytest.mark.parametrize(("path", "content", "reason"), NO_MODELS.values(), ids=NO_MODELS)
async def test_why_models_cannot_be_listed_is_said(session: aiohttp.ClientSession, path: str, content: str, reason: str) -> None:
    async with serving({path: text(content)}) as url:
        with pytest.raises(LocalError) as refused:
            await Client(session, url).models()

    assert str(refused.value) == f"{url}/v1/models: {reason}"
