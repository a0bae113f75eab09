"""From the plugins of a configuration to what every exchange shares: parsers, director and all that it calls."""

import itertools
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Any

from router.engine.config.assemble import Assembly
from router.engine.control.candidates import Candidates
from router.engine.control.director import Collaborators, Director
from router.engine.control.model_rewrite import ModelRewrite, NoRules
from router.engine.control.objectives import NoPriorities, Objectives
from router.engine.control.stages import StagePlugins, Stages
from router.engine.extproc.exchange import Services
from router.engine.extproc.parsers import ParserTable
from router.engine.extproc.random_route import RandomRoute
from router.engine.flowcontrol.admission import ShedWhenSaturated
from router.framework.attributes.key import DataKey
from router.framework.attributes.prefix_match import PrefixMatch
from router.framework.compat import Compat
from router.framework.plugin import Clock, Plugin
from router.metrics.requests import RequestMetrics
from router.metrics.scheduling import SchedulingMetrics


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """What one process has once."""

    clock: Clock
    random: Random
    compat: Compat
    scheduling_metrics: SchedulingMetrics
    request_metrics: RequestMetrics


def services_of(assembly: Assembly, candidates: Candidates, process: Process, *, emit_scores: bool) -> Services:
    """The shared part of all exchanges. `emit_scores`: decisions tell the proxy the scores of all endpoints."""
    stages = _stages(assembly, process)
    numbers = itertools.count(1)
    return Services(
        director=_director(assembly, candidates, stages),
        stages=stages,
        parsers=ParserTable(assembly.parsers, whole_segments=not process.compat.reference),
        random_route=RandomRoute(candidates, random=process.random, compat=process.compat),
        metrics=process.request_metrics,
        clock=process.clock,
        new_id=lambda: str(next(numbers)),
        new_request_id=lambda: str(uuid.uuid4()),
        compat=process.compat,
        emit_scores=emit_scores,
    )


def _stages(assembly: Assembly, process: Process) -> Stages:
    plugins = StagePlugins(
        header_processors=assembly.header_processors,
        screeners=assembly.screeners,
        producers=assembly.producers,
        admitters=assembly.admitters,
        pre_request=assembly.pre_request,
        response_headers=assembly.response_headers,
        response_body=assembly.response_body,
    )
    stop = process.compat.reference
    return Stages(plugins, clock=process.clock, metrics=process.scheduling_metrics, stop_at_failed_producer=stop)


def _director(assembly: Assembly, candidates: Candidates, stages: Stages) -> Director:
    return Director(
        Collaborators(
            rewrite=ModelRewrite(NoRules()),
            objectives=Objectives(NoPriorities()),
            stages=stages,
            admission=ShedWhenSaturated(assembly.saturation_detector),
            candidates=candidates,
            scheduler=assembly.scheduler,
            prefix_keys=_prefix_keys(assembly.producers),
        )
    )


def _prefix_keys(producers: Iterable[Plugin]) -> tuple[DataKey[Any], ...]:
    return tuple(key for producer in producers for key in producer.produces() if key.value_type is PrefixMatch)
