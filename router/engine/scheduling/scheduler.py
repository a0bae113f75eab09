"""Runs profiles until the profile handler is content, and hands it their results."""

from collections.abc import Mapping, Sequence

from router.engine.scheduling.profile import Profile
from router.framework.endpoint import Endpoint
from router.framework.errors import ErrorCode, RequestError
from router.framework.plugin import Clock
from router.framework.request import InferenceRequest
from router.framework.scheduling import ProfileHandler, ProfileResult, SchedulingResult
from router.metrics.scheduling import SchedulingMetrics


class Scheduler:
    """Chooses endpoints for one request at a time, without waiting for anything."""

    def __init__(self, *, profiles: Mapping[str, Profile], handler: ProfileHandler, clock: Clock, metrics: SchedulingMetrics) -> None:
        self.profiles = dict(profiles)
        self.handler = handler
        self._bound = {name: profile.bind(clock, metrics) for name, profile in profiles.items()}
        self._names = tuple(profiles)
        self._clock = clock
        self._metrics = metrics
        self._picked = metrics.plugin_duration("ProfilePicker", handler.type_name, handler.name)
        self._processed = metrics.plugin_duration("ProcessProfilesResults", handler.type_name, handler.name)

    def schedule(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> SchedulingResult:
        """The outcome of all profiles. Raises RequestError when the request cannot be placed."""
        begin = self._clock()
        failed = True
        try:
            result = self._decide(request, endpoints)
            failed = False
        finally:
            self._metrics.decided(self._clock() - begin)
            if failed:
                self._metrics.failed(request.target_model)
        target = result.target.metadata
        self._metrics.succeeded(request.target_model, target.name, target.namespace, target.port)
        return result

    def _decide(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> SchedulingResult:
        results, errors = self._run_profiles(request, endpoints)
        begin = self._clock()
        try:
            if not results:
                raise RequestError(ErrorCode.ResourceExhausted, "no scheduling profile ran")
            return self.handler.process_results(request, results)
        except RequestError as error:
            raise _explained(error, errors) from error
        finally:
            self._processed(self._clock() - begin)

    def _run_profiles(
        self, request: InferenceRequest, endpoints: Sequence[Endpoint]
    ) -> tuple[dict[str, ProfileResult | None], dict[str, RequestError]]:
        results: dict[str, ProfileResult | None] = {}
        errors: dict[str, RequestError] = {}
        while names := self._next(request, results):
            for name in names:
                try:
                    results[name] = self._bound[name].run(request, endpoints)
                except RequestError as error:
                    results[name], errors[name] = None, error
        return results, errors

    def _next(self, request: InferenceRequest, results: Mapping[str, ProfileResult | None]) -> list[str]:
        """Profiles to run now; one that ran, or that does not exist, is never run (again)."""
        begin = self._clock()
        names = self.handler.pick_profiles(request, self._names, results)
        self._picked(self._clock() - begin)
        return [name for name in names if name in self._bound and name not in results]


def _explained(error: RequestError, errors: Mapping[str, RequestError]) -> RequestError:
    """`error` with the code of the first profile's own failure, by name, and its reason."""
    if not errors:
        return error
    first = errors[min(errors)]
    return RequestError(first.code, first.message, first.dropped_reason)
