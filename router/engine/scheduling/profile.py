"""One profile: filters in order, scorers weighted and summed, one picker."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from router.framework.endpoint import Endpoint
from router.framework.errors import DroppedReason, ErrorCode, RequestError
from router.framework.plugin import Clock, Plugin
from router.framework.request import InferenceRequest
from router.framework.scheduling import Filter, Picker, ProfileResult, Scorer
from router.metrics.scheduling import Observe, SchedulingMetrics

NO_ENDPOINTS = "no endpoints available for the given request"


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedScorer:
    """A scorer as a profile lists it."""

    scorer: Scorer
    weight: float = 1.0


class Profile:
    """Runs a pipeline over candidates. Every profile of a request sees the same candidates."""

    def __init__(self, name: str, *, filters: Sequence[Filter] = (), scorers: Sequence[WeightedScorer] = (), picker: Picker) -> None:
        self.name = name
        self.filters = tuple(filters)
        self.scorers = tuple(scorers)
        self.picker = picker

    def plugins(self) -> tuple[Plugin, ...]:
        """Members in the order they run."""
        return (*self.filters, *(weighted.scorer for weighted in self.scorers), self.picker)

    def bind(self, clock: Clock, metrics: SchedulingMetrics) -> "BoundProfile":
        """The same profile, ready to run and to record how long its plugins take."""
        return BoundProfile(self, clock, metrics)


class BoundProfile:
    """A profile with its recorders resolved, so that running it looks nothing up."""

    def __init__(self, profile: Profile, clock: Clock, metrics: SchedulingMetrics) -> None:
        def recorder(point: str, plugin: Plugin) -> Observe:
            return metrics.plugin_duration(point, plugin.type_name, plugin.name)

        self._clock = clock
        self._filters = [(plugin.filter, recorder("Filter", plugin)) for plugin in profile.filters]
        self._scorers = [(item.scorer.score, item.weight, recorder("Scorer", item.scorer)) for item in profile.scorers]
        self._pick: Callable[..., tuple[Endpoint, ...]] = profile.picker.pick
        self._picked = recorder("Picker", profile.picker)

    def run(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> ProfileResult:
        """What this profile chooses. Raises RequestError when no endpoint is left."""
        candidates = self._filter(request, endpoints)
        scores = self._score(request, candidates)
        begin = self._clock()
        targets = self._pick(request, scores)
        self._picked(self._clock() - begin)
        if not targets:
            raise _no_endpoints()
        return ProfileResult(targets=targets, scores=scores)

    def _filter(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        for run, record in self._filters:
            if not endpoints:
                break
            begin = self._clock()
            endpoints = run(request, endpoints)
            record(self._clock() - begin)
        if not endpoints:
            raise _no_endpoints()
        return endpoints

    def _score(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> dict[Endpoint, float]:
        totals = dict.fromkeys(endpoints, 0.0)
        for run, weight, record in self._scorers:
            begin = self._clock()
            for endpoint, score in run(request, endpoints).items():
                if endpoint in totals:
                    totals[endpoint] += weight * clamp(score)
            record(self._clock() - begin)
        return totals


def clamp(score: float) -> float:
    """`score` moved into [0, 1]; what is not a number counts 0."""
    return min(score, 1.0) if score > 0.0 else 0.0


def _no_endpoints() -> RequestError:
    return RequestError(ErrorCode.ResourceExhausted, NO_ENDPOINTS, DroppedReason.SATURATED)
