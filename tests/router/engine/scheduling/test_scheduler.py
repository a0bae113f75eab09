from collections.abc import Mapping, Sequence

import pytest
from prometheus_client import CollectorRegistry

from router.engine.scheduling.profile import Profile
from router.engine.scheduling.scheduler import Scheduler
from router.framework.endpoint import Endpoint
from router.framework.errors import DroppedReason, ErrorCode, RequestError
from router.framework.request import InferenceRequest
from router.framework.scheduling import Filter, Picker, ProfileHandler, ProfileResult, SchedulingResult
from router.metrics.scheduling import SchedulingMetrics
from tests.support.engine import FakeClock, candidates, inference_request, names_of


class First(Picker):
    def pick(self, request: InferenceRequest, scores: Mapping[Endpoint, float]) -> tuple[Endpoint, ...]:
        return tuple(scores)[:1]


class Refuse(Filter):
    def __init__(self, error: RequestError) -> None:
        super().__init__("refuse")
        self._error = error

    def filter(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        raise self._error


class InTurn(ProfileHandler):
    """Runs groups of profiles one after the other; the last name is primary."""

    def __init__(self, *groups: Sequence[str]) -> None:
        super().__init__("in-turn")
        self._groups = groups
        self.seen: list[dict[str, bool]] = []

    def pick_profiles(
        self, request: InferenceRequest, profiles: Sequence[str], results: Mapping[str, ProfileResult | None]
    ) -> Sequence[str]:
        self.seen.append({name: result is not None for name, result in results.items()})
        return self._groups[len(self.seen) - 1] if len(self.seen) <= len(self._groups) else ()

    def process_results(self, request: InferenceRequest, results: Mapping[str, ProfileResult | None]) -> SchedulingResult:
        primary = list(results)[-1]
        ran = {name: result for name, result in results.items() if result is not None}
        if primary not in ran:
            raise RequestError(ErrorCode.Internal, "primary failed")
        return SchedulingResult(profiles=ran, primary=primary)


REGISTRY_NAMES = ("a", "b")


def scheduler(handler: ProfileHandler, registry: CollectorRegistry | None = None, **failing: RequestError | None) -> Scheduler:
    profiles = {
        name: Profile(name, filters=[Refuse(error)] if error else [], picker=First(f"{name}-picker")) for name, error in failing.items()
    }
    return Scheduler(profiles=profiles, handler=handler, clock=FakeClock(), metrics=SchedulingMetrics(registry or CollectorRegistry()))


def schedule(made: Scheduler) -> SchedulingResult:
    return made.schedule(inference_request(), candidates(*REGISTRY_NAMES))


def test_profiles_run_until_the_handler_is_content() -> None:
    handler = InTurn(["decode"], ["encode", "prefill"])

    result = schedule(scheduler(handler, decode=None, encode=None, prefill=None))

    assert list(result.profiles) == ["decode", "encode", "prefill"]
    assert names_of(result.profiles["decode"].targets) == ["a"]
    assert handler.seen == [{}, {"decode": True}, {"decode": True, "encode": True, "prefill": True}]


def test_a_failed_profile_is_none_and_the_request_goes_on() -> None:
    handler = InTurn(["encode"], ["decode"])

    result = schedule(scheduler(handler, encode=RequestError(ErrorCode.Forbidden, "no"), decode=None))

    assert list(result.profiles) == ["decode"]
    assert handler.seen[1] == {"encode": False}


def test_the_profiles_own_error_decides_the_code() -> None:
    refusal = RequestError(ErrorCode.Forbidden, "not here", DroppedReason.SATURATED)

    with pytest.raises(RequestError) as raised:
        schedule(scheduler(InTurn(["decode"]), decode=refusal))

    assert (raised.value.code, raised.value.message, raised.value.dropped_reason) == (
        ErrorCode.Forbidden,
        "not here",
        DroppedReason.SATURATED,
    )


def test_of_several_errors_the_first_by_name_decides() -> None:
    later, first = RequestError(ErrorCode.Internal, "later"), RequestError(ErrorCode.NotFound, "first")

    with pytest.raises(RequestError, match="first"):
        schedule(scheduler(InTurn(["z", "b"]), z=later, b=first))


@pytest.mark.parametrize("handler", [InTurn(), InTurn(["unknown"])], ids=["nothing", "unknown-profile"])
def test_nothing_ran(handler: InTurn) -> None:
    with pytest.raises(RequestError) as raised:
        schedule(scheduler(handler, decode=None))

    assert raised.value.code is ErrorCode.ResourceExhausted


def test_a_profile_runs_once_however_often_it_is_asked_for() -> None:
    class Stubborn(InTurn):
        def pick_profiles(
            self, request: InferenceRequest, profiles: Sequence[str], results: Mapping[str, ProfileResult | None]
        ) -> Sequence[str]:
            return ["decode"]

    assert schedule(scheduler(Stubborn(), decode=None)).primary == "decode"


def test_attempts_are_counted() -> None:
    registry = CollectorRegistry()
    schedule(scheduler(InTurn(["decode"]), registry, decode=None))

    labels = {"status": "success", "target_model_name": "m", "endpoint_name": "a", "namespace": "default", "port": "8000"}
    assert registry.get_sample_value("llm_d_epp_scheduler_attempts_total", labels) == 1
    assert registry.get_sample_value("llm_d_epp_scheduler_e2e_duration_seconds_count") == 1


def test_failures_are_counted_with_empty_endpoint() -> None:
    registry = CollectorRegistry()
    with pytest.raises(RequestError):
        schedule(scheduler(InTurn(), registry, decode=None))

    labels = {"status": "failure", "target_model_name": "m", "endpoint_name": "", "namespace": "", "port": ""}
    assert registry.get_sample_value("llm_d_epp_scheduler_attempts_total", labels) == 1


def test_a_plugin_that_breaks_counts_as_failure() -> None:
    class Broken(Filter):
        def filter(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
            raise ValueError("broken")

    registry = CollectorRegistry()
    profile = Profile("p", filters=[Broken("broken")], picker=First("first"))
    made = Scheduler(profiles={"p": profile}, handler=InTurn(["p"]), clock=FakeClock(), metrics=SchedulingMetrics(registry))

    with pytest.raises(ValueError, match="broken"):
        schedule(made)

    labels = {"status": "failure", "target_model_name": "m", "endpoint_name": "", "namespace": "", "port": ""}
    assert registry.get_sample_value("llm_d_epp_scheduler_attempts_total", labels) == 1
