import pytest

from router.framework.parsing import Usage
from router.payloads.sglang_usage import SGLANG_USAGE
from router.payloads.usage import JsonUsageReader, StreamUsageReader

ONE = b'{"text":"a","meta_info":{"id":"1","finish_reason":null,"prompt_tokens":5,"completion_tokens":1,"cached_tokens":2}}'
LAST = b'{"text":"ab","meta_info":{"finish_reason":{"type":"stop"},"prompt_tokens":5,"completion_tokens":2,"cached_tokens":2}}'
USAGE = Usage(prompt_tokens=5, completion_tokens=2, total_tokens=7, cached_tokens=2)


def test_the_last_answer_of_a_stream_counts() -> None:
    reader = StreamUsageReader(SGLANG_USAGE)

    reader.feed(b"data: " + ONE + b"\n\ndata: " + LAST + b"\n\ndata: [DONE]\n\n")

    assert (reader.usage(), reader.events) == (USAGE, 2)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (LAST, USAGE),
        (b"[" + LAST + b"," + ONE + b"]", Usage(prompt_tokens=10, completion_tokens=3, total_tokens=13, cached_tokens=4)),
        (b'[{"text":"x"},' + LAST + b"]", USAGE),
        (b'{"text":"x"}', None),
        (b'{"meta_info":{"id":"1"}}', None),
        (b"[]", None),
        (b"Internal Server Error", None),
    ],
    ids=["one", "several", "partly", "none", "no-counts", "empty", "text"],
)
def test_usage_of_a_document(document: bytes, expected: Usage | None) -> None:
    reader = JsonUsageReader(SGLANG_USAGE)
    reader.feed(document)

    assert reader.usage() == expected
