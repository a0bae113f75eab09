import pytest

from router.kvcache.topics import Topic, parse_topic


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        pytest.param("kv@10.0.0.1:8000@llama", Topic("10.0.0.1:8000", "llama"), id="M16"),
        pytest.param("foo", Topic("foo"), id="M17"),
        pytest.param("", Topic(""), id="vllm-default"),
        pytest.param("kv@a@b@c", Topic("kv@a@b@c"), id="four-parts"),
    ],
)
def test_topic(text: str, topic: Topic) -> None:
    assert parse_topic(text) == topic
