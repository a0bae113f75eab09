import pytest

from router.framework.errors import ConfigError
from router.tokens.resolution import Dynamic, Resolution, refuse_exact


@pytest.mark.parametrize(
    ("width", "height", "filled"), [(1280, 720, (1280, 720)), (0, 720, (640, 720)), (1280, -1, (1280, 360)), (0, 0, (640, 360))]
)
def test_each_dimension_falls_back_on_its_own(width: int, height: int, filled: tuple[int, int]) -> None:
    assert Resolution(width=width, height=height).filled() == filled


@pytest.mark.parametrize(("factor", "tokens"), [(1024, 300), (784, 391), (0, 300), (-1, 300), (10**9, 1)])
def test_one_token_for_every_factor_pixels(factor: int, tokens: int) -> None:
    assert Dynamic(factor=factor).tokens((640, 480)) == tokens


def test_exact_is_refused() -> None:
    with pytest.raises(ConfigError, match="not built yet"):
        refuse_exact("exact")
