"""How long a kubelet waits before it starts a container again."""

INITIAL_SECONDS = 10.0
LIMIT_SECONDS = 300.0
FORGET_AFTER_SECONDS = 600.0  # a container that ran this long is taken for healthy again


class Backoff:
    """The first restart is immediate, then 10 s, 20 s, 40 s … up to five minutes after the last end; all times are scaled."""

    def __init__(self, scale: float) -> None:
        self._scale = scale
        self._next = 0.0

    def delay(self, ran_seconds: float) -> float:
        """Seconds to wait after a container ended that had run for `ran_seconds`."""
        if ran_seconds >= FORGET_AFTER_SECONDS * self._scale:
            self._next = 0.0
        delay = self._next
        self._next = min(max(2 * delay, INITIAL_SECONDS * self._scale), LIMIT_SECONDS * self._scale)
        return delay
