"""Waiting for something that happens outside this process; the test's own time limit ends a wait in vain."""

import asyncio
from collections.abc import Callable

PAUSE_SECONDS = 0.005


async def until(condition: Callable[[], object]) -> None:
    """Return as soon as `condition` holds."""
    while not condition():  # noqa: ASYNC110 - files, logs and process tables have no event to wait on
        await asyncio.sleep(PAUSE_SECONDS)
