import pytest

from simulator import colours
from tests.support.simulated import picture

TEN = ["red", "green", "blue", "yellow", "orange", "purple", "pink", "brown", "black", "white", "gray"]


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
@pytest.mark.parametrize("name", TEN)
def test_a_plain_picture_is_named(name: str, form: str) -> None:
    assert colours.name_colours(picture(name, form)) == [name]


@pytest.mark.parametrize("form", ["PNG", "JPEG"])
def test_two_halves_are_both_named(form: str) -> None:
    assert sorted(colours.name_colours(picture("red", form, right="blue"))) == ["blue", "red"]


def test_a_large_photograph_is_shrunk_first() -> None:
    assert colours.name_colours(picture("green", "JPEG", side=2000)) == ["green"]


def test_a_pure_pixel_green_is_green_too() -> None:
    assert colours.nearest(0, 255, 0) == "green"


def test_no_picture_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot identify"):
        colours.name_colours(b"no picture")


def test_a_truncated_picture_is_refused() -> None:
    with pytest.raises(ValueError, match="truncated"):
        colours.name_colours(picture("red", "PNG", side=256)[:60])


@pytest.mark.parametrize(("names", "said"), [(["red"], "red"), (["red", "blue"], "red and blue"), (["a", "b", "c"], "a, b and c")])
def test_listing(names: list[str], said: str) -> None:
    assert colours.listing(names) == said
