import json
from typing import Any

from cli.verification.requests import VIDEO_HEADERS, ChatRequest, Requests

REQUESTS = Requests("tiny/model")


def body(request: ChatRequest) -> dict[str, Any]:
    return json.loads(request.body)


def test_the_question_follows_the_picture() -> None:
    sent = body(REQUESTS.about_image("data:x"))

    assert sent["model"] == "tiny/model"
    assert [part["type"] for part in sent["messages"][0]["content"]] == ["image_url", "text"]
    assert sent["messages"][0]["content"][0]["image_url"]["url"] == "data:x"


def test_the_long_prompt_is_text_then_picture_and_the_same_each_time() -> None:
    sent = body(REQUESTS.long_with_image("data:x"))

    assert [part["type"] for part in sent["messages"][0]["content"]] == ["text", "image_url"]
    assert 600 <= len(sent["messages"][0]["content"][0]["text"].split()) <= 800
    assert REQUESTS.long_with_image("data:x") == REQUESTS.long_with_image("data:x")


def test_a_text_has_no_media() -> None:
    assert isinstance(body(REQUESTS.text_only())["messages"][0]["content"], str)


def test_a_video_comes_with_its_three_headers() -> None:
    request = REQUESTS.about_video("data:x")

    assert request.headers == VIDEO_HEADERS
    assert set(VIDEO_HEADERS) == {"x-llm-d-video-fps", "x-llm-d-video-duration-seconds", "x-llm-d-video-resolution"}
    assert body(request)["messages"][0]["content"][0] == {"type": "video_url", "video_url": {"url": "data:x"}}


def test_a_stream_asks_for_its_usage() -> None:
    sent = body(REQUESTS.streamed("data:x"))

    assert sent["stream"] is True
    assert sent["stream_options"] == {"include_usage": True}
