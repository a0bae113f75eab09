"""What an audio clip costs: four bytes of its base64 text a token."""

from router.framework.attributes.tokenized_prompt import BYTES_PER_TOKEN


def audio_tokens(content: bytes) -> int:
    """Tokens of a clip whose base64 text and format make `content`; at least one."""
    return max(-(-len(content) // BYTES_PER_TOKEN), 1)
