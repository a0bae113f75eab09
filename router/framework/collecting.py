"""Polling: sources fetch, extractors turn what was fetched into endpoint metrics and attributes."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from router.framework.endpoint import LiveEndpoint
from router.framework.plugin import Plugin


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where and how one endpoint is polled."""

    url: str
    verify_tls: bool = True
    ca_path: str = ""
    client_cert_path: str = ""
    client_key_path: str = ""


class DataSource(Plugin, ABC):
    """Says what to fetch from an endpoint and how often. The collector does the fetching."""

    interval_seconds: float | None = None  # None: every tick

    @abstractmethod
    def target(self, endpoint: LiveEndpoint) -> Target:
        """What to GET."""


class Extractor(Plugin, ABC):
    """Reads what a source fetched."""

    @abstractmethod
    def extract(self, body: bytes, endpoint: LiveEndpoint) -> tuple[str, ...]:
        """Update `endpoint.metrics` or `endpoint.attributes`; returns one text for each field that could not be read."""
