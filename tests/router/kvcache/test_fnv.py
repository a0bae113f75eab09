import pytest

from router.kvcache.fnv import fnv1a_32, fnv1a_64, shard_of


def test_m01_nothing_gives_the_offset() -> None:
    assert f"{fnv1a_64(b''):x}" == "cbf29ce484222325"


@pytest.mark.parametrize(
    ("source", "value", "shard"),
    [pytest.param("10.0.0.1:8000", 1207617965, 1, id="M18"), pytest.param("10.0.0.2:8000", 2693259138, 2, id="M19")],
)
def test_shard_of_a_source(source: str, value: int, shard: int) -> None:
    assert fnv1a_32(source.encode()) == value
    assert shard_of(source, 4) == shard
