import pytest

from router.framework.plugin import NoParameters
from router.plugins.scorers.lora_affinity_scorer import TYPE, LoraAffinityScorer
from tests.support.engine import candidate, inference_request, make_handle


@pytest.mark.parametrize(
    ("running", "waiting", "most", "score"),
    [
        pytest.param("t", "", 5, 1.0, id="H24"),
        pytest.param("x", "t", 2, 0.6, id="H25"),
        pytest.param("x", "t", 5, 0.8, id="H26"),
        pytest.param("x", "y", 2, 0.0, id="H27"),
        pytest.param("", "", 0, 0.0, id="H28"),
    ],
)
def test_by_adapters(running: str, waiting: str, most: int, score: float) -> None:
    endpoint = candidate(running_adapters=frozenset(running), waiting_adapters=frozenset(waiting), max_adapters=most)

    assert LoraAffinityScorer(TYPE, NoParameters(), make_handle()).score(inference_request(model="t"), [endpoint]) == {endpoint: score}
