"""What a transport asks of the engine."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Protocol

from router.engine.extproc.transport.messages import Message, Reply


class Ending(Enum):
    """How a stream came to its end."""

    PEER_DONE = "peer done"  # the proxy closed its half, or the engine had said everything
    CANCELLED = "cancelled"  # by the proxy, or by the server's own shutdown
    FAILED = "failed"  # carrying or handling a message went wrong


class Stream(Protocol):
    """One ext_proc stream, as the engine sees it. The transport calls it from one task, message by message."""

    @property
    def over(self) -> bool:
        """True: the engine has nothing more to say; the transport ends the stream with OK once replies are sent."""
        ...

    async def take(self, message: Message) -> Sequence[Reply]:
        """Replies to send, in order. Never raises but for cancellation and errors that should end the stream."""
        ...

    def close(self, ending: Ending) -> None:
        """The stream is over, for any reason; called exactly once."""
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
