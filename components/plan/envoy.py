"""Envoy's bootstrap document: clients on one side, the engine by ext_proc, the endpoint it names on the other."""

from dataclasses import dataclass
from typing import Any, Final

import yaml

from components.plan.names import EXT_PROC_PORT, PROXY_ADMIN_PORT, PROXY_PORT, PROXY_READY_PORT, Names
from components.settings.stack import StackSettings

FILE: Final = "envoy.yaml"
DESTINATION: Final = "x-gateway-destination-endpoint"
# Headers that choose where a request goes. Only the engine may set them; a client's own are removed before it is asked.
ROUTING_HEADERS: Final = (
    DESTINATION,
    "x-prefiller-host-port",
    "x-encoder-hosts-ports",
    "x-data-parallel-host-port",
    "x-kv-cache-source-host-port",
)
BUFFER_BYTES: Final = 32_768  # bodies of any size stream through it
STREAM_WINDOW_BYTES: Final = 65_536
CONNECTION_WINDOW_BYTES: Final = 1_048_576
DAY: Final = "86400s"  # longer than any answer
CIRCUIT_BREAKERS: Final = {"max_connections": 40_000, "max_pending_requests": 40_000, "max_requests": 40_000}
HEALTH_SERVICE: Final = "envoy.service.ext_proc.v3.ExternalProcessor"
# Envoy escapes what it puts into a JSON format; in a text format a quote in a path would break the line.
LOG_FIELDS: Final = {
    "start_time": "%START_TIME%",
    "method": "%REQ(:METHOD)%",
    "path": "%REQ(:PATH)%",
    "status": "%RESPONSE_CODE%",
    "flags": "%RESPONSE_FLAGS%",
    "bytes_received": "%BYTES_RECEIVED%",
    "bytes_sent": "%BYTES_SENT%",
    "duration_ms": "%DURATION%",
    "endpoint": "%UPSTREAM_HOST%",
    "request_id": "%REQ(X-REQUEST-ID)%",
}
EXTENSIONS: Final = "type.googleapis.com/envoy.extensions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What varies between documents."""

    fail_open: bool
    secure: bool
    ipv6: bool
    engine_host: str  # 127.0.0.1 beside the engine, else the name of its Service


def bootstrap(settings: StackSettings, names: Names) -> str:
    """The document of a stack, as text."""
    proxy = settings.router.proxy
    remote = f"{names.endpoint_picker}.{names.namespace}.svc.cluster.local"
    choices = Choices(
        fail_open=proxy.fail_open,
        secure=settings.router.secure_serving,
        ipv6=proxy.ipv6,
        engine_host="127.0.0.1" if proxy.mode == "sidecar" else remote,
    )
    return yaml.safe_dump(document(choices), sort_keys=False, width=1000)


def document(choices: Choices) -> dict[str, Any]:
    """The bootstrap document."""
    return {
        "admin": {
            "address": _address("127.0.0.1", PROXY_ADMIN_PORT),
            "access_log": [_file_log("/dev/null")],
        },
        "static_resources": {
            "listeners": [_ready_listener(choices), _client_listener(choices)],
            "clusters": [_stats_cluster(), _destination_cluster(), _engine_cluster(choices)],
        },
    }


def _ready_listener(choices: Choices) -> dict[str, Any]:
    """Readiness and statistics for the kubelet and Prometheus."""
    health_check = {
        "@type": f"{EXTENSIONS}.filters.http.health_check.v3.HealthCheck",
        "pass_through_mode": False,
        "headers": [{"name": ":path", "string_match": {"exact": "/ready"}}],
    }
    route = {"match": {"prefix": "/stats/prometheus"}, "route": {"cluster": "prometheus_stats"}}
    manager = {
        "stat_prefix": "envoy-ready-http",
        "route_config": {
            "name": "local_route",
            "virtual_hosts": [{"name": "prometheus_stats", "domains": ["*"], "routes": [route]}],
        },
        "http_filters": [_http_filter("health_check", health_check), _router({})],
    }
    return {
        "name": f"envoy-proxy-ready-0.0.0.0-{PROXY_READY_PORT}",
        **_listening(PROXY_READY_PORT, choices),
        "filter_chains": [{"filters": [_manager(manager)]}],
    }


def _client_listener(choices: Choices) -> dict[str, Any]:
    """Where clients connect."""
    unrouted = {**_file_log("/dev/stdout", LOG_FIELDS), "filter": {"response_flag_filter": {"flags": ["NR"]}}}
    return {
        "name": "vllm",
        **_listening(PROXY_PORT, choices),
        "per_connection_buffer_limit_bytes": BUFFER_BYTES,
        "access_log": [unrouted],
        "filter_chains": [{"name": "vllm", "filters": [_manager(_client_manager(choices))]}],
    }


def _client_manager(choices: Choices) -> dict[str, Any]:
    route = {
        "match": {"prefix": "/"},
        "route": {
            "cluster": "original_destination_cluster",
            "timeout": DAY,
            "idle_timeout": DAY,
            "upgrade_configs": [{"upgrade_type": "websocket"}],
        },
        "typed_per_filter_config": {
            "envoy.filters.http.ext_proc": {"@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", "config": {}}
        },
    }
    return {
        "stat_prefix": f"http-{PROXY_PORT}",
        "route_config": {
            "name": "vllm",
            "virtual_hosts": [{"name": "vllm-default", "domains": ["*"], "routes": [route]}],
        },
        "http_filters": [_header_guard(), _external_processor(choices), _router({"suppress_envoy_headers": True})],
        "http2_protocol_options": {"max_concurrent_streams": 100, **_windows()},
        "use_remote_address": True,
        "normalize_path": True,
        "merge_slashes": True,
        "server_header_transformation": "PASS_THROUGH",
        "common_http_protocol_options": {"headers_with_underscores_action": "REJECT_REQUEST"},
        "path_with_escaped_slashes_action": "UNESCAPE_AND_REDIRECT",
        "access_log": [_file_log("/dev/stdout", LOG_FIELDS)],
    }


def _header_guard() -> dict[str, Any]:
    """Removes routing headers before ext_proc; a removal at the route would come after it and delete the decision."""
    mutations = {"request_mutations": [{"remove": name} for name in ROUTING_HEADERS]}
    return _http_filter(
        "header_mutation", {"@type": f"{EXTENSIONS}.filters.http.header_mutation.v3.HeaderMutation", "mutations": mutations}
    )


def _external_processor(choices: Choices) -> dict[str, Any]:
    """Both bodies stream through the engine while they arrive, so no size is too large for the buffer."""
    config = {
        "@type": f"{EXTENSIONS}.filters.http.ext_proc.v3.ExternalProcessor",
        "failure_mode_allow": choices.fail_open,
        "grpc_service": {
            "envoy_grpc": {"cluster_name": "ext_proc", "authority": f"localhost:{EXT_PROC_PORT}"},
            "timeout": "10s",
        },
        "processing_mode": {
            "request_header_mode": "SEND",
            "response_header_mode": "SEND",
            "request_body_mode": "FULL_DUPLEX_STREAMED",
            "response_body_mode": "FULL_DUPLEX_STREAMED",
            "request_trailer_mode": "SEND",
            "response_trailer_mode": "SEND",
        },
        "message_timeout": "1000s",  # a request may wait for capacity
    }
    return _http_filter("ext_proc", config)


def _stats_cluster() -> dict[str, Any]:
    return {
        "name": "prometheus_stats",
        "type": "STATIC",
        "connect_timeout": "0.250s",
        "load_assignment": _assignment("prometheus_stats", {"lb_endpoints": [_endpoint("127.0.0.1", PROXY_ADMIN_PORT)]}),
    }


def _destination_cluster() -> dict[str, Any]:
    """Connects to whatever address the decision header holds."""
    return {
        "name": "original_destination_cluster",
        "type": "ORIGINAL_DST",
        "connect_timeout": "1000s",
        "lb_policy": "CLUSTER_PROVIDED",
        "circuit_breakers": {"thresholds": [dict(CIRCUIT_BREAKERS)]},
        "original_dst_lb_config": {"use_http_header": True, "http_header_name": DESTINATION},
    }


def _engine_cluster(choices: Choices) -> dict[str, Any]:
    """The engine, health-checked; encrypted without verification, since its certificate is made at start."""
    health_check: dict[str, Any] = {
        "timeout": "2s",
        "interval": "10s",
        "unhealthy_threshold": 3,
        "healthy_threshold": 2,
        "reuse_connection": True,
        "grpc_health_check": {"service_name": HEALTH_SERVICE},
    }
    tls: dict[str, Any] = {}
    if choices.secure:
        health_check["tls_options"] = {"alpn_protocols": ["h2"]}
        context = {"@type": f"{EXTENSIONS}.transport_sockets.tls.v3.UpstreamTlsContext", "common_tls_context": {"validation_context": None}}
        tls = {"transport_socket": {"name": "envoy.transport_sockets.tls", "typed_config": context}}
    protocol = {
        "@type": f"{EXTENSIONS}.upstreams.http.v3.HttpProtocolOptions",
        "explicit_http_config": {"http2_protocol_options": _windows()},
    }
    endpoint = {**_endpoint(choices.engine_host, EXT_PROC_PORT), "load_balancing_weight": 1}
    return {
        "name": "ext_proc",
        "type": "STATIC" if choices.engine_host == "127.0.0.1" else "STRICT_DNS",
        "connect_timeout": DAY,
        "lb_policy": "LEAST_REQUEST",
        "circuit_breakers": {"thresholds": [{**CIRCUIT_BREAKERS, "max_retries": 1024}]},
        "health_checks": [health_check],
        **tls,
        "typed_extension_protocol_options": {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": protocol},
        "load_assignment": _assignment("ext_proc", {"locality": {"region": "ext_proc/e2e/0"}, "lb_endpoints": [endpoint]}),
    }


def _windows() -> dict[str, int]:
    return {"initial_stream_window_size": STREAM_WINDOW_BYTES, "initial_connection_window_size": CONNECTION_WINDOW_BYTES}


def _listening(port: int, choices: Choices) -> dict[str, Any]:
    """All IPv4 addresses, and all IPv6 ones unless the nodes have none."""
    listening: dict[str, Any] = {"address": _address("0.0.0.0", port)}  # noqa: S104 - a pod's own network
    if choices.ipv6:
        listening["additional_addresses"] = [{"address": _address("::", port)}]
    return listening


def _address(host: str, port: int) -> dict[str, Any]:
    return {"socket_address": {"address": host, "port_value": port}}


def _endpoint(host: str, port: int) -> dict[str, Any]:
    return {"endpoint": {"address": _address(host, port)}}


def _assignment(cluster: str, endpoints: dict[str, Any]) -> dict[str, Any]:
    return {"cluster_name": cluster, "endpoints": [endpoints]}


def _manager(config: dict[str, Any]) -> dict[str, Any]:
    kind = f"{EXTENSIONS}.filters.network.http_connection_manager.v3.HttpConnectionManager"
    return {"name": "envoy.filters.network.http_connection_manager", "typed_config": {"@type": kind, **config}}


def _http_filter(name: str, config: dict[str, Any]) -> dict[str, Any]:
    return {"name": f"envoy.filters.http.{name}", "typed_config": config}


def _router(options: dict[str, Any]) -> dict[str, Any]:
    return _http_filter("router", {"@type": f"{EXTENSIONS}.filters.http.router.v3.Router", **options})


def _file_log(path: str, fields: dict[str, str] | None = None) -> dict[str, Any]:
    config: dict[str, Any] = {"@type": f"{EXTENSIONS}.access_loggers.file.v3.FileAccessLog", "path": path}
    if fields is not None:
        config["log_format"] = {"json_format": dict(fields)}
    return {"name": "envoy.access_loggers.file", "typed_config": config}
