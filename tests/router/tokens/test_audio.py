import pytest

from router.tokens.audio import audio_tokens


@pytest.mark.parametrize(
    ("content", "tokens"),
    [pytest.param(b"AAAAwav", 2, id="D01"), pytest.param(b"A" * 4000 + b"mp3", 1001, id="D02"), pytest.param(b"", 1, id="D03")],
)
def test_four_bytes_of_base64_a_token(content: bytes, tokens: int) -> None:
    assert audio_tokens(content) == tokens
