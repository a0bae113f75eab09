"""The router: engine, proxy, Service, pool; what is observed of it."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from components.settings.images import Image, PullPolicy
from components.settings.model_servers import ResourcesSettings, TolerationSettings
from components.settings.section import Section, refusal

OWN_FLAGS = frozenset(
    {"config-file", "config-text", "pool-name", "pool-namespace", "pool-group", "endpoint-selector", "endpoint-target-ports",
     "grpc-health-port", "grpc-port", "metrics-port", "secure-serving", "tracing", "v", "zap-encoder", "metrics-endpoint-auth"}
)  # fmt: skip


class RouterImageSettings(Section):
    """The engine's image: a reference, or how to build it."""

    ref: Image | None = None
    pull_policy: PullPolicy | None = None
    build: dict[str, Any] | None = None


class ServiceSettings(Section):
    """How clients reach the proxy."""

    type: Literal["ClusterIP", "LoadBalancer"] = "ClusterIP"
    internal: bool = False
    port: int = Field(default=80, ge=1, le=65535)
    annotations: dict[str, str] = Field(default_factory=dict[str, str])

    @model_validator(mode="after")
    def _internal_load_balancer(self) -> "ServiceSettings":
        if self.internal and self.type != "LoadBalancer":
            raise refusal("router.service.internal", True, "only a LoadBalancer can be internal; set router.service.type: LoadBalancer")
        return self


def _default_proxy_resources() -> ResourcesSettings:
    return ResourcesSettings.model_validate({"requests": {"cpu": "4", "memory": "8Gi"}, "limits": {"memory": "16Gi"}})


class ProxySettings(Section):
    """The proxy in front of the engine."""

    kind: Literal["envoy", "agentgateway"] = "envoy"
    mode: Literal["sidecar", "service"] = "sidecar"
    replicas: int = Field(default=2, ge=1, le=100)
    image: Image = "docker.io/envoyproxy/envoy:distroless-v1.33.2"
    concurrency: int = Field(default=8, ge=1, le=256)
    resources: ResourcesSettings = Field(default_factory=_default_proxy_resources)
    fail_open: bool = False
    ipv6: bool = True
    config_map: str = Field(default="envoy", pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")


class PoolSettings(Section):
    """The InferencePool object; without it the engine selects pods by label itself."""

    create: bool = True
    failure_mode: Literal["FailOpen", "FailClose"] = "FailOpen"


class RouterSettings(Section):
    """Engine and proxy."""

    mode: Literal["standalone", "gateway"] = "standalone"
    gateway: Literal["none", "gke", "istio", "agentgateway", "envoy-ai-gateway"] | None = None
    image: RouterImageSettings = RouterImageSettings()
    image_pull_secrets: tuple[str, ...] = ()
    replicas: int = Field(default=1, ge=1, le=10)
    resources: ResourcesSettings = Field(default_factory=_default_proxy_resources)
    secure_serving: bool = True
    verbosity: int = Field(default=2, ge=0, le=10)
    flags: dict[str, str] = Field(default_factory=dict[str, str])
    env: dict[str, str] = Field(default_factory=dict[str, str])
    plugins_config: dict[str, Any] | None = None
    node_selector: dict[str, str] = Field(default_factory=dict[str, str])
    tolerations: tuple[TolerationSettings, ...] = ()
    service: ServiceSettings = ServiceSettings()
    proxy: ProxySettings = Field(default_factory=ProxySettings)
    pool: PoolSettings = PoolSettings()
    client_tls_secret: str | None = None
    api_keys: bool = False

    @model_validator(mode="after")
    def _flags_are_extra(self) -> "RouterSettings":
        for name in self.flags:
            if name in OWN_FLAGS or name.startswith("-"):
                reason = "a name without dashes is expected" if name.startswith("-") else "this flag follows from other settings"
                raise refusal(f"router.flags.{name}", self.flags[name], reason)
        return self


class MonitoringSettings(Section):
    """Scraping by the Prometheus Operator, whose definitions the cluster must have."""

    enabled: bool = False
    interval: str = Field(default="10s", pattern=r"^\d+(ms|s|m)$")
    model_server_interval: str = Field(default="30s", pattern=r"^\d+(ms|s|m)$")
    authentication: bool = False


class TracingSettings(Section):
    """Spans over OTLP."""

    enabled: bool = False
    endpoint: str = "http://localhost:4317"
    ratio: float = Field(default=0.1, ge=0, le=1)


def _switch(value: object) -> object:
    """`monitoring: true` is short for `monitoring: {enabled: true}`."""
    if isinstance(value, bool) or value in ("true", "false"):
        return {"enabled": value}
    return value


Monitoring = Annotated[MonitoringSettings, BeforeValidator(_switch)]
Tracing = Annotated[TracingSettings, BeforeValidator(_switch)]
