"""The router's settings."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from components.settings.router import (
    OWN_FLAGS,
    Monitoring,
    MonitoringSettings,
    ProxySettings,
    RouterSettings,
    ServiceSettings,
    Tracing,
    TracingSettings,
)

MONITORING: TypeAdapter[MonitoringSettings] = TypeAdapter(Monitoring)
TRACING: TypeAdapter[TracingSettings] = TypeAdapter(Tracing)


@pytest.mark.parametrize(("value", "expected"), [(True, True), ("true", True), ("false", False), ({"enabled": True}, True), ({}, False)])
def test_monitoring_and_tracing_have_a_short_form(value: object, expected: bool) -> None:
    assert MONITORING.validate_python(value).enabled is expected
    assert TRACING.validate_python(value).enabled is expected


@pytest.mark.parametrize("interval", ["10", "s", "1h", "-1s"])
def test_an_interval_is_a_duration(interval: str) -> None:
    with pytest.raises(ValidationError):
        MONITORING.validate_python({"interval": interval})


@pytest.mark.parametrize("name", sorted(OWN_FLAGS))
def test_flags_that_follow_from_settings_are_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="follows from other settings"):
        RouterSettings.model_validate({"flags": {name: "x"}})


def test_flags_are_named_without_dashes() -> None:
    with pytest.raises(ValidationError, match="without dashes"):
        RouterSettings.model_validate({"flags": {"--drain-timeout": "20s"}})


def test_other_flags_pass() -> None:
    assert RouterSettings.model_validate({"flags": {"drain-timeout": "20s"}}).flags == {"drain-timeout": "20s"}


def test_only_a_load_balancer_can_be_internal() -> None:
    with pytest.raises(ValidationError, match="only a LoadBalancer can be internal"):
        ServiceSettings.model_validate({"internal": True})


@pytest.mark.parametrize(
    "fields",
    [
        {"mode": "daemon"},
        {"kind": "nginx"},
        {"replicas": 0},
        {"image": "envoy"},
        {"concurrency": 0},
        {"failOpen": "maybe"},
        {"configMap": "A"},
    ],
)
def test_wrong_proxy_values_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ProxySettings.model_validate(fields)


def test_the_proxy_fails_closed_by_default() -> None:
    assert ProxySettings.model_validate({}).fail_open is False


def test_a_pool_fails_open_or_close_and_nothing_else() -> None:
    with pytest.raises(ValidationError):
        RouterSettings.model_validate({"pool": {"failureMode": "FailClosed"}})
