"""What a transport asks of the engine."""

from collections.abc import Callable, Sequence
from typing import Protocol

from router.engine.extproc.transport.messages import Message, Reply


class Stream(Protocol):
    """One ext_proc stream, as the engine sees it. The transport calls it from one task, message by message."""

    @property
    def over(self) -> bool:
        """True: the engine has nothing more to say; the transport ends the stream with OK once replies are sent."""
        ...

    async def take(self, message: Message) -> Sequence[Reply]:
        """Replies to send, in order. Never raises but for cancellation and errors that should end the stream."""
        ...

    def close(self, *, cancelled: bool) -> None:
        """The stream is over, for any reason; called exactly once. `cancelled`: the peer or the server gave it up."""
        ...


OpenStream = Callable[[], Stream]


class StreamMetrics(Protocol):
    """Counts of streams, for `--enable-grpc-stream-metrics`."""

    def stream_opened(self) -> None:
        """A stream begins."""
        ...

    def stream_ended(self, code: str, seconds: float) -> None:
        """It ended with this gRPC status name."""
        ...
