"""Token counts in the answers of vLLM's gRPC engine service."""

from dataclasses import replace

from router.framework.parsing import Usage, UsageReader
from router.payloads.grpc_frames import FrameSplitter
from router.payloads.protobuf import Value, content, fields

_CHUNK, _COMPLETE = 1, 2  # of GenerateResponse
_FIRST_COUNT = {_CHUNK: 2, _COMPLETE: 3}  # where prompt, completion and cached tokens begin, in this order
_EMBED_PROMPT_TOKENS = 2  # of EmbedResponse


class GenerateUsageReader(UsageReader):
    """Reads GenerateResponses: the last one that names a count decides it. Zero is how the format says nothing."""

    def __init__(self) -> None:
        self._frames = FrameSplitter()
        self._usage: Usage | None = None

    def feed(self, chunk: bytes) -> None:
        """Read the messages that the chunk completes. Raises ValueError for bytes that are no message."""
        for message in self._frames.feed(chunk):
            for field, value in fields(message):
                if field in _FIRST_COUNT:
                    self._take(_counts(content(value), _FIRST_COUNT[field]))

    def usage(self) -> Usage | None:
        """What was reported so far."""
        return self._usage

    def _take(self, report: Usage) -> None:
        if report == Usage():
            return
        merged = (self._usage or Usage()).merged(report)
        self._usage = replace(merged, total_tokens=(merged.prompt_tokens or 0) + (merged.completion_tokens or 0))


class EmbedUsageReader(UsageReader):
    """Reads an EmbedResponse."""

    def __init__(self) -> None:
        self._frames = FrameSplitter()
        self._usage: Usage | None = None

    def feed(self, chunk: bytes) -> None:
        """Read the message once the chunk completes it. Raises ValueError for bytes that are no message."""
        for message in self._frames.feed(chunk):
            for field, value in fields(message):
                if field == _EMBED_PROMPT_TOKENS and isinstance(value, int):
                    self._usage = Usage(prompt_tokens=value, total_tokens=value)

    def usage(self) -> Usage | None:
        """What was reported so far."""
        return self._usage


def _counts(message: memoryview, first: int) -> Usage:
    found: dict[int, Value] = {field: value for field, value in fields(message) if first <= field < first + 3}
    prompt, completion, cached = (value if isinstance(value := found.get(first + index), int) and value else None for index in range(3))
    return Usage(prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached)
