"""The order of a request's life between parsing and the reply."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from router.engine.control.candidates import Candidates
from router.engine.control.conditional_decode import require_cached_prefix
from router.engine.control.context import RequestContext
from router.engine.control.model_rewrite import ModelRewrite
from router.engine.control.objectives import Objectives
from router.engine.control.stages import Stages
from router.engine.flowcontrol.admission import Admission
from router.framework.attributes.key import DataKey
from router.framework.attributes.prefix_match import PrefixMatch
from router.framework.endpoint import Endpoint
from router.framework.errors import ErrorCode, RequestError
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult

log = logging.getLogger(__name__)


class Chooser(Protocol):
    """The scheduler, as the director sees it."""

    def schedule(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> SchedulingResult:
        """Choose; raises RequestError when the request cannot be placed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Collaborators:
    """What the director calls, in the order it does."""

    rewrite: ModelRewrite
    objectives: Objectives
    stages: Stages
    admission: Admission
    candidates: Candidates
    scheduler: Chooser
    prefix_keys: Sequence[DataKey[PrefixMatch]] = ()  # where conditional decode looks for matches


class Director:
    """Chooses where requests go."""

    def __init__(self, collaborators: Collaborators) -> None:
        self._rewrite = collaborators.rewrite
        self._objectives = collaborators.objectives
        self._stages = collaborators.stages
        self._admission = collaborators.admission
        self._candidates = collaborators.candidates
        self._scheduler = collaborators.scheduler
        self._prefix_keys = tuple(collaborators.prefix_keys)

    async def handle(self, context: RequestContext) -> None:
        """Choose where a parsed request goes; raises RequestError to refuse it.

        Once `context.result` is set something may be booked on it, so its end has to be told even if the request is refused then.
        """
        self._rewrite.apply(context)
        request = self._objectives.build_request(context)
        await self._stages.process_headers(request)
        await self._admission.wait(request, partial(self._candidates.views, context.subset))
        candidates = self._stages.screen(request, self._candidates.locate(context.subset))
        await self._stages.produce(request, context.payload, candidates)
        await self._stages.admit(request, candidates)
        result = self._schedule(request, candidates)
        require_cached_prefix(request, result, self._prefix_keys)
        context.result = result
        await self._stages.before_request(request, result)

    def _schedule(self, request: InferenceRequest, candidates: Sequence[Endpoint]) -> SchedulingResult:
        try:
            return self._scheduler.schedule(request, candidates)
        except RequestError:
            raise
        except Exception as error:
            log.exception("scheduling failed", extra={"fields": {"request_id": request.external_id}})
            raise RequestError(ErrorCode.ResourceExhausted, f"failed to find target endpoint: {error}") from error
