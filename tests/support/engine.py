"""Builders and fakes of what the engine passes to its plugins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from prometheus_client import CollectorRegistry

from router.engine.config.assemble import Assembly
from router.engine.config.load import LoadOptions, load
from router.framework.compat import Compat
from router.framework.endpoint import Endpoint, EndpointMetadata, EndpointMetrics, LiveEndpoint
from router.framework.plugin import Handle, Plugin
from router.framework.request import InferenceRequest
from router.framework.scheduling import ProfileResult, SchedulingResult
from router.metrics.scheduling import SchedulingMetrics
from router.plugins.registry import ALIASES, ENTRIES, UNBUILT
from router.wire import ROLE_LABEL

REFERENCE = Compat(reference=True)


class FakeClock:
    """Seconds that pass when told to."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@dataclass
class RecordingMetrics:
    """Keeps what plugins record."""

    index_sizes: list[int] = field(default_factory=list[int])
    hits: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])
    inflight_totals: dict[tuple[str, str, int], tuple[int, int]] = field(default_factory=dict[tuple[str, str, int], tuple[int, int]])
    stale: list[int] = field(default_factory=list[int])
    decisions: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    pd_decisions: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    encoder_queries: list[str] = field(default_factory=list[str])
    encoder_hits: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    encoder_ratios: list[float] = field(default_factory=list[float])
    encoders_forgotten: list[str] = field(default_factory=list[str])

    def prefix_index_size(self, plugin_name: str, plugin_type: str, entries: int) -> None:
        self.index_sizes.append(entries)

    def prefix_hit(self, plugin_name: str, plugin_type: str, *, ratio: float, hit_bytes: int) -> None:
        self.hits.append((ratio, hit_bytes))

    def inflight(self, endpoint_name: str, namespace: str, producer_name: str, flow: tuple[str, int], change: tuple[int, int]) -> None:
        key = (endpoint_name, *flow)
        requests, tokens = self.inflight_totals.get(key, (0, 0))
        self.inflight_totals[key] = (requests + change[0], tokens + change[1])

    def inflight_gone(self, endpoint_name: str, namespace: str, producer_name: str) -> None:
        for key in [key for key in self.inflight_totals if key[0] == endpoint_name]:
            del self.inflight_totals[key]

    def stale_endpoints(self, detector: str, count: int) -> None:
        self.stale.append(count)

    def disagg_decision(self, plugin_name: str, plugin_type: str, model: str, decision: str) -> None:
        self.decisions.append((model, decision))

    def pd_decision(self, plugin_name: str, plugin_type: str, model: str, decision: str) -> None:
        self.pd_decisions.append((model, decision))

    def encoder_cache_queried(self, plugin_name: str, plugin_type: str, modality: str) -> None:
        self.encoder_queries.append(modality)

    def encoder_cache_hit(self, plugin_name: str, plugin_type: str, pod: str, modality: str) -> None:
        self.encoder_hits.append((pod, modality))

    def encoder_cache_ratio(self, plugin_name: str, plugin_type: str, ratio: float, candidates: int) -> None:
        self.encoder_ratios.extend([ratio] * candidates)

    def encoder_cache_forgotten(self, plugin_name: str, plugin_type: str, pod: str) -> None:
        self.encoders_forgotten.append(pod)


def make_handle(
    *,
    compat: Compat | None = None,
    clock: FakeClock | None = None,
    random: Random | None = None,
    metrics: RecordingMetrics | None = None,
    plugins: Mapping[str, Plugin] | None = None,
) -> Handle:
    """A handle to a process that does not exist."""
    return Handle(
        clock=clock or FakeClock(),
        random=random or Random(7),
        metrics=metrics or RecordingMetrics(),
        plugins={} if plugins is None else plugins,
        compat=compat,
    )


def live_endpoint(
    name: str = "a", *, uid: str = "", labels: Mapping[str, str] | None = None, address: str = "10.0.0.1", **metrics: Any
) -> LiveEndpoint:
    """An endpoint of a pod; other keyword arguments are its metrics."""
    metadata = EndpointMetadata(
        id=f"default/{name}-rank-0", name=name, namespace="default", address=address, port=8000, uid=uid, labels=labels or {}
    )
    return LiveEndpoint(metadata=metadata, metrics=EndpointMetrics(**metrics))


def candidate(name: str = "a", *, labels: Mapping[str, str] | None = None, address: str = "10.0.0.1", **metrics: Any) -> Endpoint:
    """One request's view of an endpoint nobody else knows."""
    return Endpoint(live_endpoint(name, labels=labels, address=address, **metrics))


def labelled(*roles: str | None, label: str = ROLE_LABEL) -> list[Endpoint]:
    """An endpoint for each value of a label, named by its index; None: without the label."""
    return [candidate(str(index), labels={} if role is None else {label: role}) for index, role in enumerate(roles)]


def candidates(*names: str) -> list[Endpoint]:
    """Several of them."""
    return [candidate(name) for name in names]


def inference_request(
    request_id: str = "r1", *, model: str = "m", max_output_tokens: int | None = None, headers: dict[str, str] | None = None
) -> InferenceRequest:
    """A request without body."""
    return InferenceRequest(
        id=request_id,
        external_id=request_id,
        incoming_model=model,
        target_model=model,
        fairness_id="default-flow",
        priority=0,
        stream=False,
        max_output_tokens=max_output_tokens,
        size_bytes=0,
        received_at=0.0,
        headers=headers or {},
    )


def result_of(**targets: Endpoint) -> SchedulingResult:
    """A result by profile; the last profile is primary."""
    return SchedulingResult(
        profiles={name: ProfileResult(targets=(target,)) for name, target in targets.items()}, primary=list(targets)[-1]
    )


def names_of(endpoints: Sequence[Endpoint]) -> list[str]:
    """Pod names, in order."""
    return [endpoint.metadata.name for endpoint in endpoints]


def load_configuration(text: str, *, source: str = "test.yaml", handle: Handle | None = None, allow_experimental: bool = False) -> Assembly:
    """A configuration with the real registry."""

    def handle_for(plugins: Mapping[str, Plugin]) -> Handle:
        made = handle or make_handle()
        return Handle(clock=made.clock, random=made.random, metrics=made.metrics, plugins=plugins, compat=made.compat)

    options = LoadOptions(
        entries=ENTRIES,
        aliases=ALIASES,
        unbuilt=UNBUILT,
        handle_for=handle_for,
        metrics=SchedulingMetrics(CollectorRegistry()),
        allow_experimental=allow_experimental,
    )
    return load(text, source=source, options=options)
