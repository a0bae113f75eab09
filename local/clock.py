"""Time as the runner sees it; tests pass their own."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """A monotonic clock that can be waited on."""

    def now(self) -> float:
        """Seconds since some fixed moment; never goes back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds`; zero or less yields once."""
        ...


class RealClock:
    """The machine's clock."""

    def now(self) -> float:
        """Seconds of the monotonic clock."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait on the event loop."""
        await asyncio.sleep(max(seconds, 0.0))
