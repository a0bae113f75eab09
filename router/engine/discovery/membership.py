"""What discovery is to the rest of the engine."""

from typing import Protocol

from router.engine.datalayer.endpoints import Endpoints


class Discovery(Protocol):
    """Keeps a set of endpoints current."""

    @property
    def pool_known(self) -> bool:
        """False keeps the engine's health NOT_SERVING."""
        ...

    @property
    def app_protocol(self) -> str:
        """What the pool says its endpoints speak; empty: nothing."""
        ...

    async def load(self, endpoints: Endpoints) -> None:
        """Everything that must be right before the servers start. Raises ConfigError."""
        ...

    async def run(self, endpoints: Endpoints) -> None:
        """Follow changes until cancelled; returns when there is nothing to follow."""
        ...
