"""Metrics that plugins record (`engine.md` names them; prefix `llm_d_epp_`)."""

from typing import Protocol


class PluginMetrics(Protocol):
    """What a plugin may record. Names and labels are settled here so that plugins state facts only."""

    def prefix_index_size(self, plugin_name: str, plugin_type: str, entries: int) -> None:
        """Total entries of a prefix index."""
        ...

    def prefix_hit(self, plugin_name: str, plugin_type: str, *, ratio: float, hit_bytes: int) -> None:
        """Share and length of the prompt that the chosen endpoint was thought to hold."""
        ...

    def inflight(self, endpoint_name: str, namespace: str, producer_name: str, flow: tuple[str, int], change: tuple[int, int]) -> None:
        """Change (requests, tokens) of what is in flight for a flow (fairness id, priority)."""
        ...

    def stale_endpoints(self, detector: str, count: int) -> None:
        """Endpoints whose metrics are too old to use."""
        ...
