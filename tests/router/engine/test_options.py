import dataclasses

import pytest

from router.engine.options import REMOVED, HelpRequestedError, Options, UsageError, parse, pool_label, require_pool, usage, verbosity
from router.framework.errors import ConfigError


def parsed(*arguments: str, **environ: str) -> Options:
    return parse(("--pool-name", "p", *arguments), environ)


@pytest.mark.parametrize(
    ("arguments", "field", "value"),
    [
        pytest.param(["--grpc-port", "1"], "grpc_port", 1, id="apart"),
        pytest.param(["--grpc-port=1"], "grpc_port", 1, id="joined"),
        pytest.param(["--grpc-port=1", "--grpc-port=2"], "grpc_port", 2, id="later-wins"),
        pytest.param(["--secure-serving=false"], "secure_serving", False, id="boolean-joined"),
        pytest.param(["--secure-serving=F"], "secure_serving", False, id="boolean-as-go-reads-it"),
        pytest.param(["--emit-endpoint-scores"], "emit_endpoint_scores", True, id="boolean-bare"),
        pytest.param(["-v", "4"], "v", 4, id="short"),
        pytest.param(["-v=4"], "v", 4, id="short-joined"),
        pytest.param(["-v4"], "v", 4, id="short-touching"),
        pytest.param(["--grpc-port=0x10"], "grpc_port", 16, id="hexadecimal"),
        pytest.param(["--grpc-max-recv-msg-size=10Gi"], "grpc_max_recv_msg_size", 2**31 - 1, id="more-than-grpc-can"),
        pytest.param(["--v=4"], "v", 4, id="long-v"),
        pytest.param(["--drain-timeout", "1m30s"], "drain_timeout", 90.0, id="duration"),
        pytest.param(["--grpc-max-recv-msg-size", "10MiB"], "grpc_max_recv_msg_size", 10 * 2**20, id="binary-quantity"),
        pytest.param(["--grpc-max-send-msg-size", "25MB"], "grpc_max_send_msg_size", 25_000_000, id="decimal-quantity"),
        pytest.param(["--zap-encoder", "console"], "zap_encoder", "console", id="choice"),
        pytest.param(["--config-text", "--odd"], "config_text", "--odd", id="a-value-may-look-like-a-flag"),
        pytest.param(["--tracing=false"], "tracing", False, id="tracing"),
        pytest.param(["--compat=reference"], "compat", "reference", id="compat"),
    ],
)
def test_flags_are_read_as_the_reference_reads_them(arguments: list[str], field: str, value: object) -> None:
    assert getattr(parsed(*arguments), field) == value


DEFAULTS = {
    "grpc_port": 9002,
    "grpc_health_port": 9003,
    "metrics_port": 9090,
    "pool_group": "inference.networking.k8s.io",
    "drain_timeout": 30.0,
    "secure_serving": True,
    "metrics_endpoint_auth": True,
    "enable_pprof": True,
    "tracing": True,
    "refresh_metrics_interval": 0.05,
    "refresh_prometheus_metrics_interval": 5.0,
    "metrics_staleness_threshold": 2.0,
    "grpc_max_recv_msg_size": 4 * 2**20,
    "v": 2,
    "zap_encoder": "json",
}


@pytest.mark.parametrize("field", sorted(DEFAULTS))
def test_defaults_are_those_of_the_reference(field: str) -> None:
    assert getattr(parsed(), field) == DEFAULTS[field]


REFERENCE_FLAGS = [
    "grpc-port",
    "grpc-health-port",
    "metrics-port",
    "pool-name",
    "pool-namespace",
    "pool-group",
    "endpoint-selector",
    "endpoint-target-ports",
    "disable-endpoint-subset-filter",
    "emit-endpoint-scores",
    "ha-enable-leader-election",
    "drain-timeout",
    "health-checking",
    "secure-serving",
    "cert-path",
    "enable-cert-reload",
    "tls-min-version",
    "tls-cipher-suites",
    "grpc-max-recv-msg-size",
    "grpc-max-send-msg-size",
    "enable-grpc-stream-metrics",
    "refresh-metrics-interval",
    "refresh-prometheus-metrics-interval",
    "metrics-staleness-threshold",
    "metrics-endpoint-auth",
    "metrics-client-ca-file",
    "metrics-cert-dir",
    "enable-pprof",
    "config-file",
    "config-text",
    "allow-experimental-plugins",
    "tracing",
    "v",
    "zap-encoder",
    "zap-log-level",
    "zap-devel",
    "zap-stacktrace-level",
    "zap-time-encoding",
]


def test_every_flag_of_the_reference_is_known() -> None:
    ours = {field.name.replace("_", "-") for field in dataclasses.fields(Options)}

    assert ours - set(REFERENCE_FLAGS) == {"compat", "bind-address"}
    assert set(REFERENCE_FLAGS) <= ours


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        pytest.param(["--grpc-prot=1"], r'--grpc-prot: unknown flag; did you mean "grpc-port"', id="typo"),
        pytest.param(["-x"], "is not a flag", id="short"),
        pytest.param(["word"], "is not a flag", id="word"),
        pytest.param(["--secure-serving", "false"], "is not a flag", id="boolean-apart"),
        pytest.param(["--grpc-port"], "needs a value", id="no-value"),
        pytest.param(["--grpc-port=x"], "--grpc-port: 'x' is not allowed: allowed is a whole number", id="no-number"),
        pytest.param(["--grpc-port= 9002"], "allowed is a whole number", id="blank"),
        pytest.param(["--grpc-port=٣"], "allowed is a whole number", id="digits-of-another-script"),
        pytest.param(["--grpc-port=" + "9" * 5000], "allowed is a whole number", id="endless-number"),
        pytest.param(["--drain-timeout=" + "9" * 400 + "s"], "is not a duration", id="endless-duration"),
        pytest.param(["--drain-timeout=9999999h"], "longer than 292 years", id="duration-beyond-go"),
        pytest.param(["--zap-log-level=" + "9" * 5000], "whole numbers", id="endless-level"),
        pytest.param(["--grpc-port=70000"], "allowed are 0 to 65535", id="port-range"),
        pytest.param(["--secure-serving=yes"], "allowed are true and false", id="boolean"),
        pytest.param(["--drain-timeout=30"], "30.*is not a duration", id="duration"),
        pytest.param(["--drain-timeout=-1s"], "negative", id="negative-duration"),
        pytest.param(["--grpc-max-recv-msg-size=-1"], "negative", id="negative-size"),
        pytest.param(["--zap-encoder=xml"], "allowed are json, console", id="choice"),
        pytest.param(["--zap-log-level=loud"], "allowed are debug, info", id="zap-level"),
        pytest.param(["--ha-enable-leader-election"], "not built yet", id="leader-election"),
        pytest.param(["--tls-min-version=VersionTLS13"], "not enforced yet", id="tls-1.3"),
        pytest.param(["--tls-cipher-suites=X"], "not built yet", id="ciphers"),
        pytest.param(["--endpoint-selector=a=b"], "not both", id="pool-and-selector"),
        pytest.param(["--config-file=a", "--config-text=b"], "exclude each other", id="two-configurations"),
        pytest.param(["--metrics-client-ca-file=a"], "needs --metrics-cert-dir", id="ca-alone"),
        pytest.param(["--metrics-cert-dir=a", "--metrics-endpoint-auth=false"], "needs --metrics-endpoint-auth", id="tls-without-auth"),
        pytest.param(["--enable-cert-reload"], "needs --cert-path", id="reload-alone"),
        *[pytest.param([f"--{name}=x"], "engineConfigs", id=name) for name in REMOVED],
    ],
)
def test_what_cannot_be_used_is_refused_with_flag_value_and_what_is_allowed(arguments: list[str], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        parsed(*arguments)


def test_a_selector_comes_with_ports() -> None:
    options = parse(["--endpoint-selector", "app=x", "--endpoint-target-ports", "8000,8001,8000"], {})

    assert options.endpoint_target_ports == (8000, 8001)
    with pytest.raises(UsageError, match="--endpoint-target-ports"):
        parse(["--endpoint-selector", "app=x"], {})
    with pytest.raises(UsageError, match="1 to 8 ports"):
        parse(["--endpoint-selector", "app=x", "--endpoint-target-ports", "1,2,3,4,5,6,7,8,9"], {})


@pytest.mark.parametrize("selector", ["a=b", "a==b,c!=d", "llm-d.ai/role in (decode, prefill)", "a notin (b)", "!a", "a", "a=,b"])
def test_selectors_are_those_of_kubernetes(selector: str) -> None:
    assert parse(["--endpoint-selector", selector, "--endpoint-target-ports=1"], {}).endpoint_selector == selector


@pytest.mark.parametrize("selector", ["a=b,", "=b", "a in b", "a=(b)", "a b", ","])
def test_a_selector_that_is_none_is_refused(selector: str) -> None:
    with pytest.raises(UsageError, match="label selector"):
        parse(["--endpoint-selector", selector, "--endpoint-target-ports=1"], {})


def test_one_of_pool_and_selector_is_needed_unless_endpoints_come_from_a_file() -> None:
    options = parse([], {})

    with pytest.raises(UsageError, match="exactly one of --pool-name and --endpoint-selector"):
        require_pool(options)


@pytest.mark.parametrize(
    ("arguments", "environ", "namespace"),
    [([], {}, "default"), ([], {"NAMESPACE": "n"}, "n"), (["--pool-namespace=m"], {"NAMESPACE": "n"}, "m")],
    ids=["default", "environment", "flag"],
)
def test_the_namespace_has_fallbacks(arguments: list[str], environ: dict[str, str], namespace: str) -> None:
    assert parsed(*arguments, **environ).pool_namespace == namespace


def test_what_the_chart_passes_is_accepted() -> None:
    parse(
        [
            "--pool-name",
            "multimodal-serving",
            "--pool-namespace",
            "default",
            "--pool-group",
            "inference.networking.k8s.io",
            "--zap-encoder",
            "json",
            "--config-file",
            "/config/c.yaml",
            "--grpc-health-port",
            "9003",
            "--tracing=false",
            "--metrics-endpoint-auth=false",
            "--ha-enable-leader-election=false",
            "--v",
            "2",
        ],
        {},
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [([], 2), (["-v=4"], 4), (["-v=4", "--zap-log-level=info"], 2), (["--zap-log-level=5"], 5), (["--zap-log-level=error"], 0)],
)
def test_verbosity_comes_from_either_flag(arguments: list[str], expected: int) -> None:
    assert verbosity(parsed(*arguments)) == expected


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_is_grouped_and_shows_an_example(flag: str) -> None:
    with pytest.raises(HelpRequestedError) as asked:
        parse([flag], {})

    assert str(asked.value) == usage()
    assert all(f"\n{group}:\n" in usage() for group in ("pool", "configuration", "serving", "TLS", "metrics", "example"))
    assert "--config-file engine.yaml" in usage()


@pytest.mark.parametrize(
    ("arguments", "kubernetes", "pod", "label"),
    [
        pytest.param(["--pool-name=p"], True, "", "p", id="pool"),
        pytest.param(["--pool-name=p"], False, "", "p", id="file-and-name"),
        pytest.param([], False, "", "epp", id="file"),
        pytest.param(["--endpoint-selector=a=b", "--endpoint-target-ports=1"], True, "my-engine-5d-x7", "my-engine", id="selector"),
    ],
)
def test_the_pool_has_a_name_in_metrics(arguments: list[str], *, kubernetes: bool, pod: str, label: str) -> None:
    environ = {"POD_NAME": pod}

    assert pool_label(parse(arguments, environ), environ, kubernetes=kubernetes) == label


@pytest.mark.parametrize("pod", ["", "engine", "engine-5d"])
def test_with_a_selector_the_pod_must_be_named_as_a_deployment_names_its_pods(pod: str) -> None:
    options = parse(["--endpoint-selector=a=b", "--endpoint-target-ports=1"], {})

    with pytest.raises(ConfigError, match=r"\$POD_NAME"):
        pool_label(options, {"POD_NAME": pod}, kubernetes=True)
