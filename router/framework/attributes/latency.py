"""Predicted latency of the request at hand on an endpoint, an endpoint attribute of one request."""

from dataclasses import dataclass

from router.framework.attributes.key import DataKey

PRODUCER = "predicted-latency-producer"


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyPrediction:
    """Milliseconds."""

    ttft_ms: float
    tpot_ms: float


def latency_prediction(producer: str = PRODUCER) -> DataKey[LatencyPrediction]:
    """Key of the endpoint attribute."""
    return DataKey("LatencyPrediction", producer, LatencyPrediction)
