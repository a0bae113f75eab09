"""How much of a request's media an endpoint is thought to have encoded already, an endpoint attribute of one request."""

from dataclasses import dataclass

from router.framework.attributes.key import DataKey

PRODUCER = "mm-embeddings-cache-producer"


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderMatch:
    """Sizes in any one unit: the producer counts items."""

    matched_size: int
    request_size: int

    @property
    def ratio(self) -> float:
        """matched/request, 0 for a request without media."""
        return self.matched_size / self.request_size if self.request_size else 0.0


def encoder_match(producer: str = PRODUCER) -> DataKey[EncoderMatch]:
    """Key of the endpoint attribute."""
    return DataKey("EncoderMatch", producer, EncoderMatch)
