"""The engine, put together: what it is made of, in which order it starts and how it ends."""

import asyncio
import contextlib
import logging
import os
import signal
import time
from collections.abc import Coroutine, Mapping
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from router.engine.admin import AdminServer, Pages
from router.engine.config.assemble import Assembly
from router.engine.config.load import LoadOptions, load, read_text
from router.engine.control.candidates import Candidates
from router.engine.datalayer.averages import PoolAverages
from router.engine.datalayer.collector import Collector, Surroundings
from router.engine.datalayer.endpoints import Endpoints
from router.engine.datalayer.pace import Pace
from router.engine.discovery.membership import Discovery
from router.engine.discovery.pool import KubernetesEndpoints, PoolReference, Selection
from router.engine.discovery.static import FileEndpoints
from router.engine.extproc.exchange import Exchange
from router.engine.extproc.services import Process, services_of
from router.engine.extproc.transport.grpc_aio import GrpcAioServer, ServerOptions
from router.engine.extproc.transport.seam import OpenStream
from router.engine.health import Health, HealthServer, register
from router.engine.options import MIN_REFRESH_SECONDS, Options, pool_label, require_pool
from router.engine.ports import require_free
from router.fetch import Fetcher
from router.framework.compat import Compat
from router.framework.errors import ConfigError
from router.framework.plugin import Handle, Plugin
from router.kube.access import find_access
from router.kube.client import KubeClient
from router.kube.review import Reviewer
from router.metrics.datalayer import DatalayerMetrics
from router.metrics.labels import LabelCap
from router.metrics.plugins import PrometheusPluginMetrics
from router.metrics.pool import PoolMetrics
from router.metrics.registry import exposition, new_registry
from router.metrics.requests import RequestMetrics, StreamCounts
from router.metrics.scheduling import SchedulingMetrics
from router.plugins.discovery.file_discovery import FileDiscovery
from router.plugins.registry import ALIASES, ENTRIES, UNBUILT
from router.tls import server_context, serving_certificate

EVERYWHERE = "[::]"  # both address families
STREAMS_GRACE_SECONDS = 100.0  # a pod has 130 s to end, the default drain takes 30 s of them

_log = logging.getLogger(__name__)


class Engine:
    """The parts of one process. Nothing runs before `run`."""

    def __init__(self, options: Options, environ: Mapping[str, str]) -> None:
        """Raises ConfigError when configuration or flags cannot be used."""
        self._options = options
        self._environ = environ
        self._clock = time.monotonic
        self._random = Random()  # noqa: S311 - spreads load, guards nothing
        self._registry = new_registry()
        self._compat = Compat(reference=options.compat == "reference")
        self._models, self._fairness_ids = LabelCap(), LabelCap()  # each counts its names once, wherever they are a label
        self._plugin_metrics = PrometheusPluginMetrics(self._registry, self._fairness_ids, self._models)
        self._scheduling_metrics = SchedulingMetrics(self._registry, self._models)
        self._assembly = self._load()
        self._endpoints = Endpoints(self._assembly.listeners)
        self._pace = Pace(options.refresh_metrics_interval, [source.interval_seconds for source, _ in self._assembly.sources], self._clock)
        self._kube: KubeClient | None = None
        self._discovery = self._choose_discovery()
        self._health = self._judge_health()
        pool = PoolMetrics(self._registry, pool_label(options, environ, kubernetes=self._kube is not None))
        self._averages = PoolAverages(self._endpoints, pool, self._clock, options.metrics_staleness_threshold)

    async def run(self) -> None:
        """Serve until SIGTERM or SIGINT, then drain. Raises ConfigError when a port is taken or the endpoints cannot be read."""
        stop = _stop_signal()
        if self._options.tracing and any(name.startswith("OTEL_EXPORTER") for name in self._environ):
            _log.warning("traces are not exported yet")
        async with contextlib.AsyncExitStack() as held:
            if self._kube is not None:
                await held.enter_async_context(self._kube)
            await self._serve(stop)
        _log.info("engine has ended")

    async def _serve(self, stop: asyncio.Event) -> None:
        options = self._options
        for what, port in (("ext_proc", options.grpc_port), ("health", options.grpc_health_port), ("metrics", options.metrics_port)):
            require_free(options.bind_address, port, f"{what} port")
        await self._discovery.load(self._endpoints)
        ext_proc, admin = self._ext_proc(), self._admin()
        health = HealthServer(self._health, self._host(), self._options.grpc_health_port)
        ports: dict[str, int] = {}
        try:
            ports["ext_proc"] = await ext_proc.start()
            ports["health"] = await health.start()
            ports["metrics"] = await admin.start()
            async with asyncio.TaskGroup() as group:
                work = [group.create_task(job) for job in self._jobs()]
                _log.info("engine is up", extra={"fields": {**ports, "endpoints": len(self._endpoints.all())}})
                await stop.wait()
                await self._drain()
                grace = STREAMS_GRACE_SECONDS if self._options.drain_timeout else 0.0
                _log.info("waiting for open streams", extra={"fields": {"seconds": grace}})
                await ext_proc.stop(grace)
                for task in work:
                    task.cancel()
        finally:
            await ext_proc.stop(0)
            await admin.stop()
            await health.stop(None)

    def _load(self) -> Assembly:
        text, source = read_text(self._options.config_file, self._options.config_text)
        return load(
            text,
            source=source,
            options=LoadOptions(
                entries=ENTRIES,
                aliases=ALIASES,
                unbuilt=UNBUILT,
                handle_for=self._handle,
                metrics=self._scheduling_metrics,
                allow_experimental=self._options.allow_experimental_plugins,
            ),
        )

    def _handle(self, plugins: Mapping[str, Plugin]) -> Handle:
        return Handle(clock=self._clock, random=self._random, metrics=self._plugin_metrics, plugins=plugins, compat=self._compat)

    def _exchanges(self) -> OpenStream:
        """What answers Envoy; each stream also tells the poller that there is traffic."""
        process = Process(
            clock=self._clock,
            random=self._random,
            compat=self._compat,
            scheduling_metrics=self._scheduling_metrics,
            request_metrics=RequestMetrics(self._registry, models=self._models, fairness_ids=self._fairness_ids),
        )
        candidates = Candidates(self._endpoints, ignore_subset=self._options.disable_endpoint_subset_filter)
        services = services_of(self._assembly, candidates, process, emit_scores=self._options.emit_endpoint_scores)

        def open_stream() -> Exchange:
            self._pace.touch()
            return Exchange(services)

        return open_stream

    def _ext_proc(self) -> GrpcAioServer:
        options = self._options
        certificate, renew = (
            serving_certificate(options.cert_path, follow=options.enable_cert_reload) if options.secure_serving else (None, None)
        )
        serving = ServerOptions(
            host=self._host(),
            port=options.grpc_port,
            certificate=certificate,
            renew=renew,
            max_receive_bytes=options.grpc_max_recv_msg_size,
            max_send_bytes=options.grpc_max_send_msg_size,
            services=(register(self._health),),
            stream_metrics=StreamCounts(self._registry) if options.enable_grpc_stream_metrics else None,
        )
        return GrpcAioServer(self._exchanges(), serving, self._clock)

    def _jobs(self) -> tuple[Coroutine[Any, Any, None], ...]:
        """What runs beside the servers."""
        sources = self._assembly.sources
        refresh = self._options.refresh_metrics_interval
        if refresh < MIN_REFRESH_SECONDS:
            _log.warning("refresh interval is raised to its minimum", extra={"fields": {"seconds": MIN_REFRESH_SECONDS}})
        around = Surroundings(fetcher=Fetcher(), metrics=DatalayerMetrics(self._registry), clock=self._clock)
        return (
            self._discovery.run(self._endpoints),
            Collector(self._endpoints, sources, self._pace, around).run(),
            self._averages.run(self._options.refresh_prometheus_metrics_interval),
        )

    def _choose_discovery(self) -> Discovery:
        plugin = self._assembly.discovery
        if isinstance(plugin, FileDiscovery):
            return FileEndpoints(Path(plugin.path), watch=plugin.watch_file)
        if plugin is not None:
            raise ConfigError("does not discover endpoints", plugin=plugin.name, field="dataLayer.discovery")
        return self._kubernetes_endpoints()

    def _kubernetes_endpoints(self) -> KubernetesEndpoints:
        """Pods as the API server tells of them. Raises ConfigError when there is no API server, UsageError without pool or selector."""
        options = self._options
        require_pool(options)
        self._kube = KubeClient(find_access(self._environ, Path(self._environ.get("HOME", "/"))))
        pool, fixed = None, None
        if options.pool_name:
            pool = PoolReference(name=options.pool_name, namespace=options.pool_namespace, group=options.pool_group)
        else:
            fixed = Selection(selector=options.endpoint_selector, ports=options.endpoint_target_ports)
        return KubernetesEndpoints(self._kube, options.pool_namespace, self._random, pool=pool, fixed=fixed)

    def _judge_health(self) -> Health:
        return Health(
            pool_known=lambda: self._discovery.pool_known,
            app_protocol=lambda: self._discovery.app_protocol,
            parsers=self._assembly.parsers,
            plugins=tuple(self._assembly.plugins.values()),
        )

    def _admin(self) -> AdminServer:
        options = self._options
        pages = Pages(
            metrics=partial(exposition, self._registry),
            plugins=None if self._kube is None and self._compat.reference else self._assembly.plugins,
            debug=options.enable_pprof,
            allow=Reviewer(self._kube, self._clock) if self._kube is not None and options.metrics_endpoint_auth else None,
        )
        context = server_context(Path(options.metrics_cert_dir), options.metrics_client_ca_file) if options.metrics_cert_dir else None
        return AdminServer(pages, options.bind_address, options.metrics_port, context)

    def _host(self) -> str:
        given = self._options.bind_address
        return (f"[{given}]" if ":" in given else given) or EVERYWHERE

    async def _drain(self) -> None:
        """Tell everyone that asks that this process is leaving, and go on serving for a while."""
        self._health.draining = True
        _log.info("draining", extra={"fields": {"seconds": self._options.drain_timeout}})
        await asyncio.sleep(self._options.drain_timeout)


def _stop_signal() -> asyncio.Event:
    """Set by the first SIGTERM or SIGINT; the second ends the process at once."""
    stop = asyncio.Event()

    def stopping() -> None:
        if stop.is_set():
            os._exit(1)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping)
    return stop
