"""Where an endpoint stands, a live endpoint attribute."""

from dataclasses import dataclass

from router.framework.attributes.key import DataKey

PRODUCER = "topology-extractor"
LEVELS = ("host", "rack", "zone", "region")  # closest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """Names of the places an endpoint is in; empty: not known."""

    hostname: str = ""
    rack: str = ""
    zone: str = ""
    region: str = ""

    @property
    def known(self) -> bool:
        """Whether any place is."""
        return any(self._places())

    def shared_level(self, other: "Topology") -> int | None:
        """Index in LEVELS of the closest place both are in; None: none. Unknown places are not shared."""
        pairs = enumerate(zip(self._places(), other._places(), strict=True))
        return next((level for level, (mine, theirs) in pairs if mine and mine == theirs), None)

    def _places(self) -> tuple[str, str, str, str]:
        return self.hostname, self.rack, self.zone, self.region


def topology(producer: str = PRODUCER) -> DataKey[Topology]:
    """Key of the live endpoint attribute."""
    return DataKey("Topology", producer, Topology)
