"""Plain numbers that extractors read off endpoints, addressed by name in configuration documents."""

from router.framework.attributes.key import DataKey
from router.framework.endpoint import Endpoint

PRODUCER = "core-metrics-extractor"


class ScalarAttribute:
    """A number on endpoints, from one producer or from whichever wrote one of that name."""

    def __init__(self, name: str, producer: str | None) -> None:
        """`producer`: None means the usual one, empty any."""
        self._name = name
        self.key = DataKey(name, PRODUCER if producer is None else producer, float)
        self._any = producer == ""

    @property
    def required(self) -> frozenset[DataKey[float]]:
        """What a plugin that reads it declares; nothing when any producer will do."""
        return frozenset() if self._any else frozenset({self.key})

    def read(self, endpoint: Endpoint) -> float | None:
        """The number, or None where it is missing or no number."""
        value = self._search(endpoint) if self._any else endpoint.read(self.key)
        return float(value) if isinstance(value, int | float) else None

    def _search(self, endpoint: Endpoint) -> object:
        written = endpoint.live.attributes.items()
        return next((value for key, value in written if key.data_type == self._name), None)
