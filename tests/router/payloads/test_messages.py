import json
import tracemalloc
from typing import Any

import pytest

from router.framework.errors import RequestError
from router.payloads.content import MediaPart, TextPart
from router.payloads.messages import REFUSAL, Block, InlineImage, Thinking, ToolResult, ToolUse, Turn, parse_messages


def body(*messages: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({"model": "m", "messages": messages, **more}, separators=(",", ":")).encode()


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def blocks(*content: dict[str, Any]) -> tuple[Block, ...]:
    (turn,) = parse_messages(body(user(list(content)))).messages
    return turn.content


def test_fields_of_a_messages_body() -> None:
    payload = parse_messages(body(user("hi"), stream=True, max_tokens=7, tools=[{"name": "f"}], cache_salt="s", system="be brief"))

    assert (payload.model, payload.stream, payload.max_output_tokens, payload.cache_salt) == ("m", True, 7, "s")
    assert payload.system == ("be brief",)
    assert bytes(payload.tools) == b'[{"name":"f"}]'
    assert payload.messages == (Turn("user", (TextPart("hi"),)),)
    assert payload.rewritable


@pytest.mark.parametrize(
    ("system", "texts"),
    [
        (None, ()),
        ("", ()),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], ("a", "b")),
        ([{"type": "text", "text": "x-anthropic-billing-header: cch=1"}, {"type": "text", "text": "b"}], ("b",)),
        ([{"type": "text"}, {"type": "other", "text": 5}], ()),
    ],
    ids=["null", "empty", "blocks", "billing", "others"],
)
def test_system_texts(system: Any, texts: tuple[str, ...]) -> None:
    assert parse_messages(body(user("hi"), system=system)).system == texts


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"type": "text", "text": "a"}, TextPart("a")),
        ({"type": "thinking", "thinking": "hm", "signature": "s"}, Thinking("hm")),
        ({"type": "tool_use", "id": "1", "name": "f", "input": {"a": [1]}}, ToolUse("1", "f", memoryview(b'{"a":[1]}'))),
        ({"type": "tool_use", "id": "1", "name": "f"}, ToolUse("1", "f", memoryview(b""))),
        ({"type": "image", "source": {"type": "url", "url": "http://a"}}, MediaPart("image", memoryview(b"http://a"))),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}},
            InlineImage(memoryview(b"QUJD"), "image/png"),
        ),
        ({"type": "image", "source": {"type": "base64", "data": "QUJD"}}, InlineImage(memoryview(b"QUJD"), "")),
        ({"type": "tool_result", "tool_use_id": "1", "content": "done"}, ToolResult("1", (TextPart("done"),))),
        ({"type": "tool_result", "tool_use_id": "1"}, ToolResult("1", ())),
        (
            {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "a"}, {"type": "other"}]},
            ToolResult("1", (TextPart("a"),)),
        ),
    ],
    ids=["text", "thinking", "use", "use-bare", "url", "base64", "untyped", "result", "result-bare", "result-blocks"],
)
def test_blocks(block: dict[str, Any], expected: Block) -> None:
    assert blocks(block) == (expected,)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "redacted_thinking", "data": "x"},
        {"type": "thinking", "thinking": ""},
        {"type": "text", "text": ""},
        {"type": "image", "source": {"type": "file", "file_id": "f"}},
        {"type": "search_result", "source": "https://x", "title": "t", "content": [{"type": "text", "text": "a"}]},
        {"type": "web_search_tool_result", "tool_use_id": "1", "content": {"type": "web_search_tool_result_error"}},
        {"type": "document", "source": {"type": "text", "data": "x", "media_type": "text/plain"}},
    ],
    ids=["redacted", "no-thought", "no-text", "file", "search", "web", "document"],
)
def test_blocks_that_are_not_read_are_left_out(block: dict[str, Any]) -> None:
    assert blocks(block) == ()


def test_images_are_not_copied() -> None:
    picture = {"type": "image", "source": {"type": "base64", "data": "QUJD" * 500_000}}
    raw = body(user([picture, {"type": "tool_result", "tool_use_id": "1", "content": [picture]}]))
    tracemalloc.start()
    try:
        payload = parse_messages(raw)
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()

    assert payload.messages[0].content[0] == InlineImage(memoryview(b"QUJD" * 500_000), "")
    assert kept < 100_000  # of 4,000,000


@pytest.mark.parametrize(
    "members",
    [
        '"messages":[]',
        '"messages":null',
        '"prompt":"x"',
        '"messages":[5]',
        '"messages":[{"role":"user","content":5}]',
        '"messages":[{"role":"user","content":["x"]}]',
        '"messages":[{"role":"user","content":[{"type":"text","text":5}]}]',
        '"messages":[{"role":"user","content":[{"type":"image"}]}]',
        '"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","data":5}}]}]',
        '"messages":[{"role":"user","content":[{"type":"tool_result","content":5}]}]',
        '"system":5,"messages":[{"role":"user","content":"x"}]',
    ],
)
def test_invalid_messages_are_refused(members: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse_messages(f'{{"model":"m",{members}}}'.encode())

    assert caught.value.message == REFUSAL
