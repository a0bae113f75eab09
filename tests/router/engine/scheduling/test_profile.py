import math
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from router.engine.scheduling.profile import Profile, WeightedScorer, clamp
from router.framework.endpoint import Endpoint
from router.framework.errors import DroppedReason, ErrorCode, RequestError
from router.framework.request import InferenceRequest
from router.framework.scheduling import Filter, Picker, ProfileResult, Scorer
from router.metrics.scheduling import SchedulingMetrics
from tests.support.engine import FakeClock, candidates, inference_request, names_of


class KeepNamed(Filter):
    def __init__(self, names: str) -> None:
        super().__init__(f"keep-{names}")
        self._names = names
        self.seen: list[list[str]] = []

    def filter(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        self.seen.append(names_of(endpoints))
        return [endpoint for endpoint in endpoints if endpoint.metadata.name in self._names]


class Fixed(Scorer):
    def __init__(self, score: Callable[[Endpoint], float | None]) -> None:
        super().__init__("fixed")
        self._score = score

    def score(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Mapping[Endpoint, float]:
        return {endpoint: score for endpoint in endpoints if (score := self._score(endpoint)) is not None}


class Best(Picker):
    def pick(self, request: InferenceRequest, scores: Mapping[Endpoint, float]) -> tuple[Endpoint, ...]:
        return tuple(sorted(scores, key=scores.__getitem__, reverse=True))


class Nobody(Picker):
    def pick(self, request: InferenceRequest, scores: Mapping[Endpoint, float]) -> tuple[Endpoint, ...]:
        return ()


def by_name(**scores: float) -> Fixed:
    return Fixed(lambda endpoint: scores.get(endpoint.metadata.name))


def run(profile: Profile, names: str = "abc") -> ProfileResult:
    bound = profile.bind(FakeClock(), SchedulingMetrics(CollectorRegistry()))
    return bound.run(inference_request(), candidates(*names))


def scores_of(result: ProfileResult) -> dict[str, float]:
    return {endpoint.metadata.name: score for endpoint, score in result.scores.items()}


def test_filters_run_on_what_the_one_before_left() -> None:
    first, second = KeepNamed("ab"), KeepNamed("bc")

    result = run(Profile("p", filters=[first, second], picker=Best("best")))

    assert (first.seen, second.seen) == ([["a", "b", "c"]], [["a", "b"]])
    assert names_of(result.targets) == ["b"]


@pytest.mark.parametrize(("filters", "names"), [([KeepNamed(""), KeepNamed("a")], "abc"), ([], "")], ids=["filtered", "no-candidates"])
def test_nothing_left_is_saturation(filters: list[KeepNamed], names: str) -> None:
    with pytest.raises(RequestError) as raised:
        run(Profile("p", filters=filters, picker=Best("best")), names)

    assert raised.value.code is ErrorCode.ResourceExhausted
    assert raised.value.message == "no endpoints available for the given request"
    assert raised.value.dropped_reason is DroppedReason.SATURATED
    assert all(not each.seen for each in filters[1:])


def test_a_picker_that_picks_nobody_is_an_error() -> None:
    with pytest.raises(RequestError, match="no endpoints available"):
        run(Profile("p", picker=Nobody("nobody")))


def test_h40_weighted_sum() -> None:
    scorers = [WeightedScorer(scorer=by_name(a=0.5), weight=2), WeightedScorer(scorer=by_name(a=1.0), weight=4)]

    assert scores_of(run(Profile("p", scorers=scorers, picker=Best("best")), "a")) == {"a": 5.0}


def test_h41_scores_are_clamped() -> None:
    scorers = [WeightedScorer(scorer=by_name(a=1.7, b=-0.2))]

    assert scores_of(run(Profile("p", scorers=scorers, picker=Best("best")), "ab")) == {"a": 1.0, "b": 0.0}


def test_endpoints_left_out_score_nothing() -> None:
    scorers = [WeightedScorer(scorer=by_name(b=0.5))]

    assert scores_of(run(Profile("p", scorers=scorers, picker=Best("best")))) == {"a": 0, "b": 0.5, "c": 0}


def test_a_stranger_in_a_scorers_answer_is_ignored() -> None:
    (stranger,) = candidates("x")

    class Odd(Scorer):
        def score(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Mapping[Endpoint, float]:
            return {stranger: 1.0}

    assert scores_of(run(Profile("p", scorers=[WeightedScorer(scorer=Odd("odd"))], picker=Best("best")), "a")) == {"a": 0}


@given(st.floats())
def test_clamped_into_the_unit_interval(score: float) -> None:
    clamped = clamp(score)

    assert 0 <= clamped <= 1
    assert clamped == score or not 0 <= score <= 1 or math.isnan(score)
