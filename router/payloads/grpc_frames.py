"""gRPC messages inside HTTP bodies: a flag byte, four bytes of length, the message."""

from router.framework.errors import ErrorCode, RequestError

REFUSAL = "invalid or unsupported gRPC payload"
MAX_MESSAGE_BYTES = 4 * 1024 * 1024  # of a response; a longer one is passed over unread

_HEAD_BYTES = 5


def only_message(body: bytes) -> memoryview:
    """The message of a body that is one frame; raises RequestError(BadRequest) for anything else and for compressed ones."""
    size = int.from_bytes(body[1:_HEAD_BYTES], "big")
    if len(body) < _HEAD_BYTES or body[0] or len(body) != _HEAD_BYTES + size:
        raise RequestError(ErrorCode.BadRequest, REFUSAL)
    return memoryview(body)[_HEAD_BYTES:]


class FrameSplitter:
    """Finds the messages of a body that arrives in pieces. Compressed and very long messages are left out."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._missing_bytes = _HEAD_BYTES  # until another frame, or its head, is complete
        self._skip_bytes = 0  # of a message that is passed over

    def feed(self, chunk: bytes) -> list[memoryview]:
        """The messages that the chunk completes, in order."""
        skipped = min(self._skip_bytes, len(chunk))
        self._skip_bytes -= skipped
        self._pieces.append(chunk[skipped:])
        self._missing_bytes -= len(chunk) - skipped
        return self._split(b"".join(self._pieces)) if self._missing_bytes <= 0 else []

    def _split(self, pending: bytes) -> list[memoryview]:
        messages: list[memoryview] = []
        position, end = 0, _HEAD_BYTES
        while end <= len(pending):
            start = end
            size = int.from_bytes(pending[position + 1 : start], "big")
            end = start + size
            if size > MAX_MESSAGE_BYTES:
                self._skip_bytes = max(end - len(pending), 0)
            elif end > len(pending):
                break
            elif not pending[position]:
                messages.append(memoryview(pending)[start:end])
            position = min(end, len(pending))
            end = position + _HEAD_BYTES
        self._pieces = [pending[position:]]
        self._missing_bytes = end - len(pending)
        return messages
