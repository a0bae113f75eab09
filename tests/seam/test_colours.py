"""The check asks for colours that the simulated model can name."""

from cli.verification.pictures import COLOURS
from simulator.colours import PALETTE, nearest


def test_the_simulator_names_every_colour_that_the_check_shows() -> None:
    assert set(COLOURS) <= set(PALETTE)
    assert {name: nearest(*rgb) for name, rgb in COLOURS.items()} == {name: name for name in COLOURS}
