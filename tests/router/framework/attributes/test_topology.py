import pytest

from router.framework.attributes.topology import LEVELS, Topology, topology

HERE = Topology(hostname="h", rack="r", zone="z", region="g")


@pytest.mark.parametrize(
    ("other", "level"),
    [
        (HERE, "host"),
        (Topology(hostname="x", rack="r", zone="z", region="g"), "rack"),
        (Topology(zone="z", region="g"), "zone"),
        (Topology(rack="x", zone="y", region="g"), "region"),
        (Topology(rack="x"), None),
        (Topology(), None),
    ],
)
def test_the_closest_place_both_are_in(other: Topology, level: str | None) -> None:
    shared = HERE.shared_level(other)

    assert (None if shared is None else LEVELS[shared]) == level


def test_two_unknown_places_are_not_the_same() -> None:
    assert Topology().shared_level(Topology()) is None
    assert not Topology().known


def test_the_key_names_its_producer() -> None:
    assert topology().text == "Topology/topology-extractor"
