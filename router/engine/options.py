"""Flags of the engine: the same names, defaults and parsing rules as the reference, plus a few of our own.

`--flag value` and `--flag=value` both work; booleans take `--flag` or `--flag=true|false` only; the last occurrence wins.
"""

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

from router.framework.errors import ConfigError
from router.framework.parameters import nearest, show
from router.framework.units import parse_duration, parse_quantity
from router.wire import EXT_PROC_PORT, HEALTH_PORT, METRICS_PORT

FILE_POOL: Final = "epp"  # the pool's name where endpoints come from a file and no name is given
MIN_REFRESH_SECONDS: Final = 0.05
MAX_TARGET_PORTS: Final = 8
DEFAULT_NAMESPACE: Final = "default"
GRPC_DEFAULT_RECEIVE_BYTES: Final = 4 * 1024 * 1024
GRPC_MOST_BYTES: Final = 2**31 - 1  # of one message; the library counts no further
ZAP_LEVELS: Final = {"debug": 4, "info": 2, "error": 0, "panic": 0}
REMOVED: Final = (
    "total-queued-requests-metric",
    "total-running-requests-metric",
    "kv-cache-usage-percentage-metric",
    "lora-info-metric",
    "cache-info-metric",
)
_KEY, _VALUE = r"[A-Za-z0-9][A-Za-z0-9./_-]*", r"[A-Za-z0-9._-]*"
_REQUIREMENT = rf"\s*(?:!?\s*{_KEY}|{_KEY}\s*(?:==?|!=)\s*{_VALUE}|{_KEY}\s+(?:not)?in\s*\(\s*{_VALUE}\s*(?:,\s*{_VALUE}\s*)*\))\s*"
_SELECTOR = re.compile(rf"{_REQUIREMENT}(?:,{_REQUIREMENT})*")
_SHORT_VERBOSITY = re.compile(r"-v[0-9]+")  # the one short flag may touch its value
_NUMBER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,18}|0[xX][0-9a-fA-F]{1,16})")
_TRUE, _FALSE = ("1", "t", "T", "TRUE", "true", "True"), ("0", "f", "F", "FALSE", "false", "False")


class UsageError(ConfigError):
    """The command line cannot be used as it is."""


class HelpRequestedError(Exception):
    """`--help` or `--version` was given; the text to print."""


def _flag(group: str, convert: Callable[[str], Any], default: Any, text: str) -> Any:
    return dataclasses.field(default=default, metadata={"group": group, "convert": convert, "help": text})


def _boolean(text: str) -> bool:
    if text not in (*_TRUE, *_FALSE):
        raise ValueError("allowed are true and false")
    return text in _TRUE


def _whole(text: str, low: int, high: int) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError("allowed is a whole number")
    value = int(text, 0)
    if not low <= value <= high:
        raise ValueError(f"allowed are {low} to {high}")
    return value


_port = partial(_whole, low=0, high=65535)  # 0: any free port


def _size(text: str) -> int:
    value = parse_quantity(text.removesuffix("B"))
    if value < 0:
        raise ValueError("must not be negative")
    return min(value, GRPC_MOST_BYTES)


def _duration(text: str) -> float:
    value = parse_duration(text)
    if value < 0:
        raise ValueError("must not be negative")
    return value


def _ports(text: str) -> tuple[int, ...]:
    found = tuple(dict.fromkeys(_port(part.strip()) for part in text.split(",")))
    if len(found) > MAX_TARGET_PORTS:
        raise ValueError(f"allowed are 1 to {MAX_TARGET_PORTS} ports")
    return found


def _selector(text: str) -> str:
    if not _SELECTOR.fullmatch(text):
        raise ValueError("allowed is a label selector such as app=x,tier!=y,role in (a,b),!canary")
    return text


def _choice(text: str, allowed: Sequence[str]) -> str:
    if text not in allowed:
        raise ValueError(f"allowed are {', '.join(allowed)}")
    return text


def _zap_level(text: str) -> str:
    if text not in ZAP_LEVELS and not (text.isascii() and text.isdigit() and len(text) <= 3):
        raise ValueError(f"allowed are {', '.join(ZAP_LEVELS)} and whole numbers")
    return text


_encoder = partial(_choice, allowed=("json", "console"))
_tls_version = partial(_choice, allowed=("VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13"))
_compat = partial(_choice, allowed=("reference",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line says. Field `grpc_port` is flag `--grpc-port`."""

    pool_name: str = _flag("pool", str, "", "InferencePool to serve")
    pool_namespace: str = _flag("pool", str, "", "its namespace (then $NAMESPACE, then default)")
    pool_group: str = _flag("pool", str, "inference.networking.k8s.io", "API group of the pool")
    endpoint_selector: str = _flag("pool", _selector, "", "label selector of the pods, instead of a pool")
    endpoint_target_ports: tuple[int, ...] = _flag("pool", _ports, (), "1 to 8 ports of each pod, with --endpoint-selector")

    config_file: str = _flag("configuration", str, "", "EndpointPickerConfig document")
    config_text: str = _flag("configuration", str, "", "the document itself")
    allow_experimental_plugins: bool = _flag("configuration", _boolean, False, "permit plugins of level alpha")
    compat: str = _flag("configuration", _compat, "", "reference: behave as the reference wherever we differ on purpose")

    grpc_port: int = _flag("serving", _port, EXT_PROC_PORT, "ext_proc port")
    grpc_health_port: int = _flag("serving", _port, HEALTH_PORT, "health port, plaintext")
    metrics_port: int = _flag("serving", _port, METRICS_PORT, "metrics and debug port")
    bind_address: str = _flag("serving", str, "", "address to listen on (all)")
    grpc_max_recv_msg_size: int = _flag("serving", _size, GRPC_DEFAULT_RECEIVE_BYTES, "largest message received, such as 10MiB")
    grpc_max_send_msg_size: int = _flag("serving", _size, -1, "largest message sent (unlimited)")
    health_checking: bool = _flag("serving", _boolean, False, "accepted; health is always served on the ext_proc port too")
    drain_timeout: float = _flag("serving", _duration, 30.0, "keep serving this long after SIGTERM")
    disable_endpoint_subset_filter: bool = _flag("serving", _boolean, False, "ignore the proxy's subset hint")
    emit_endpoint_scores: bool = _flag("serving", _boolean, False, "add scores to the dynamic metadata")
    ha_enable_leader_election: bool = _flag("serving", _boolean, False, "leader election (not yet)")

    secure_serving: bool = _flag("TLS", _boolean, True, "TLS on the ext_proc port")
    cert_path: str = _flag("TLS", str, "", "directory with tls.crt and tls.key (self-signed)")
    enable_cert_reload: bool = _flag("TLS", _boolean, False, "reload them when they change")
    tls_min_version: str = _flag("TLS", _tls_version, "", "VersionTLS10 to VersionTLS12")
    tls_cipher_suites: str = _flag("TLS", str, "", "cipher suites (not yet)")

    metrics_endpoint_auth: bool = _flag("metrics", _boolean, True, "ask the API server who may read /metrics")
    metrics_cert_dir: str = _flag("metrics", str, "", "directory with tls.crt and tls.key for the metrics port")
    metrics_client_ca_file: str = _flag("metrics", str, "", "CA of clients of the metrics port")
    enable_pprof: bool = _flag("metrics", _boolean, True, "debug pages on the metrics port")
    enable_grpc_stream_metrics: bool = _flag("metrics", _boolean, False, "metrics of ext_proc streams")
    refresh_metrics_interval: float = _flag("metrics", _duration, MIN_REFRESH_SECONDS, "how often endpoints are polled; at least 50ms")
    refresh_prometheus_metrics_interval: float = _flag("metrics", _duration, 5.0, "how often pool gauges are computed")
    metrics_staleness_threshold: float = _flag("metrics", _duration, 2.0, "age from which pool gauges leave an endpoint out")

    v: int = _flag("logs and traces", partial(_whole, low=0, high=10), 2, "verbosity: 2 default, 3 verbose, 4 debug, 5 trace")
    tracing: bool = _flag("logs and traces", _boolean, True, "accepted; traces are not exported yet")
    zap_encoder: Literal["json", "console"] = _flag("logs and traces", _encoder, "json", "json or console")
    zap_log_level: str = _flag("logs and traces", _zap_level, "", "debug, info, error or a number; where given, it is the verbosity")
    zap_devel: bool = _flag("logs and traces", _boolean, False, "accepted")
    zap_stacktrace_level: str = _flag("logs and traces", str, "", "accepted")
    zap_time_encoding: str = _flag("logs and traces", str, "", "accepted")


def parse(arguments: Sequence[str], environ: Mapping[str, str]) -> Options:
    """Options of a command line. Raises UsageError, or HelpRequestedError."""
    values = {field.name: _convert(flag, field, text) for flag, field, text in _given(arguments)}
    options = Options(**values)
    if not options.pool_namespace:
        options = dataclasses.replace(options, pool_namespace=environ.get("NAMESPACE") or DEFAULT_NAMESPACE)
    _check_pool(options)
    _check_serving(options)
    return options


def verbosity(options: Options) -> int:
    """What decides which log lines are printed."""
    level = options.zap_log_level
    return ZAP_LEVELS.get(level, int(level) if level.isdigit() else options.v)


def require_pool(options: Options) -> None:
    """Without file discovery there must be a pool or a selector. Raises UsageError."""
    if not options.pool_name and not options.endpoint_selector:
        raise UsageError("exactly one of --pool-name and --endpoint-selector must be set, unless endpoints come from file-discovery")


def pool_label(options: Options, environ: Mapping[str, str], *, kubernetes: bool) -> str:
    """The pool's name in metrics. A selector has none, so there it is that of our own Deployment. Raises ConfigError."""
    if options.pool_name or not kubernetes:
        return options.pool_name or FILE_POOL
    pod = environ.get("POD_NAME", "")
    if pod.count("-") < 2:
        raise ConfigError("with --endpoint-selector it names this pod, as a Deployment names it: name-hash-id", source="$POD_NAME")
    return pod.rsplit("-", 2)[0]


def usage() -> str:
    """The text of `--help`."""
    lines = ["usage: python -m router.engine [flags]", ""]
    group = ""
    for field in dataclasses.fields(Options):
        if field.metadata["group"] != group:
            group = field.metadata["group"]
            lines += ["", f"{group}:"]
        lines.append(f"  --{_spelled(field.name):<38} {field.metadata['help']}{_default(field.default)}")
    example = "python -m router.engine --pool-name pool --config-file engine.yaml --secure-serving=false"
    return "\n".join([*lines, "", "example:", f"  {example}", "    serves ext_proc on 9002, health on 9003, metrics on 9090"])


def _given(arguments: Sequence[str]) -> Iterator[tuple[str, "dataclasses.Field[Any]", str]]:
    """(flag as written, field, text) in order."""
    fields = {_spelled(field.name): field for field in dataclasses.fields(Options)}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        flag, equals, text = word.partition("=")
        if flag in {"--help", "-h"}:
            raise HelpRequestedError(usage())
        if _SHORT_VERBOSITY.fullmatch(word):
            flag, equals, text = "-v", "=", word.removeprefix("-v")
        name = flag.removeprefix("--") if flag.startswith("--") else _short(flag)
        field = _known(flag, name, fields)
        if not equals:
            if field.metadata["convert"] is _boolean:
                text = "true"
            elif rest:
                text = rest.pop(0)
            else:
                raise UsageError("needs a value", source=flag)
        yield flag, field, text


def _short(flag: str) -> str:
    if flag == "-v":
        return "v"
    raise UsageError(f'"{flag}" is not a flag; flags start with --')


def _known(flag: str, name: str, fields: Mapping[str, "dataclasses.Field[Any]"]) -> "dataclasses.Field[Any]":
    if name in REMOVED:
        raise UsageError("was removed; metrics of model servers are named in engineConfigs of core-metrics-extractor", source=flag)
    if name not in fields:
        raise UsageError(f"unknown flag{nearest(name, list(fields))}", source=flag)
    return fields[name]


def _convert(flag: str, field: "dataclasses.Field[Any]", text: str) -> Any:
    try:
        return field.metadata["convert"](text)
    except ValueError as error:
        raise UsageError(f"{show(text)} is not allowed: {error}", source=flag) from None


def _check_pool(options: Options) -> None:
    if options.pool_name and options.endpoint_selector:
        raise UsageError("exactly one of --pool-name and --endpoint-selector must be set, not both")
    if options.endpoint_selector and not options.endpoint_target_ports:
        raise UsageError("is required with --endpoint-selector: 1 to 8 ports", source="--endpoint-target-ports")
    if options.config_file and options.config_text:
        raise UsageError("--config-file and --config-text exclude each other")


def _check_serving(options: Options) -> None:
    if options.ha_enable_leader_election:
        raise UsageError("leader election is not built yet; run one replica without it", source="--ha-enable-leader-election")
    if options.tls_min_version == "VersionTLS13":
        raise UsageError("VersionTLS13 is not enforced yet; TLS 1.2 is the least that is accepted anyway", source="--tls-min-version")
    if options.tls_cipher_suites:
        raise UsageError("choosing cipher suites is not built yet", source="--tls-cipher-suites")
    if options.metrics_client_ca_file and not options.metrics_cert_dir:
        raise UsageError("needs --metrics-cert-dir", source="--metrics-client-ca-file")
    if options.metrics_cert_dir and not (options.metrics_endpoint_auth or options.metrics_client_ca_file):
        raise UsageError("needs --metrics-endpoint-auth or --metrics-client-ca-file", source="--metrics-cert-dir")
    if options.enable_cert_reload and not options.cert_path:
        raise UsageError("needs --cert-path", source="--enable-cert-reload")


def _spelled(field_name: str) -> str:
    return field_name.replace("_", "-")


def _default(value: Any) -> str:
    if value in ("", (), -1):
        return ""
    if isinstance(value, bool):
        return f" ({str(value).lower()})"
    return f" ({value:g}s)" if isinstance(value, float) else f" ({value})"
