"""Logging as it was, for tests of what configures it."""

import logging
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def kept_logging() -> Generator[None]:
    """Handlers and levels are put back at the end."""
    root, ours = logging.getLogger(), logging.getLogger("router")
    handlers, levels = root.handlers[:], (root.level, ours.level)
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(levels[0])
        ours.setLevel(levels[1])
