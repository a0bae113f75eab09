"""Metrics of polling."""

from prometheus_client import CollectorRegistry, Counter

from router.metrics.registry import PREFIX, SCHEDULER_ALIAS, Alias


class DatalayerMetrics:
    """Counts polls and readings that failed."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._poll = Counter(
            "datalayer_poll_errors_total", "Polls of an endpoint that failed.", ("source_type",), namespace=PREFIX, registry=registry
        )
        self._extract = Counter(
            "datalayer_extract_errors_total",
            "Fetched pages of which something could not be read.",
            ("source_type", "extractor_type"),
            namespace=PREFIX,
            registry=registry,
        )
        for metric in (self._poll, self._extract):
            registry.register(Alias(metric, (PREFIX, SCHEDULER_ALIAS)))

    def poll_failed(self, source_type: str) -> None:
        """One poll brought nothing."""
        self._poll.labels(source_type).inc()

    def extract_failed(self, source_type: str, extractor_type: str) -> None:
        """One page could not be read, or not all of it."""
        self._extract.labels(source_type, extractor_type).inc()
