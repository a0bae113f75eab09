"""Addresses and commands."""

from typing import Any

import pytest

from components.plan import outputs
from components.plan.names import names
from components.settings.stack import StackSettings, load


def stack(**service: Any) -> StackSettings:
    return load({"router": {"service": service}})


@pytest.mark.parametrize(
    ("port", "address", "expected"),
    [
        (80, "10.0.0.1", "http://10.0.0.1"),
        (8088, "10.0.0.1", "http://10.0.0.1:8088"),
        (80, "fd00::1", "http://[fd00::1]"),
        (81, "fd00::1", "http://[fd00::1]:81"),
        (80, "lb.example", "http://lb.example"),
    ],
)
def test_url(port: int, address: str, expected: str) -> None:
    assert outputs.url(stack(port=port), address) == expected


def test_inside_the_cluster_a_port_is_forwarded() -> None:
    settings = stack(port=81)

    assert outputs.connect_command(settings, names(settings, "1"), "10.0.0.1") == (
        "kubectl port-forward --namespace llm-d-multimodal-serving service/multimodal-serving-epp 8080:81"
    )
    assert outputs.verify_command(settings, names(settings, "1"), "10.0.0.1") == (
        "mmserve verify --url http://127.0.0.1:8080 --model Qwen/Qwen3-VL-32B-Instruct "
        "--namespace llm-d-multimodal-serving --selector llm-d.ai/guide=aggregation"
    )


def test_a_load_balancer_is_reached_at_its_address() -> None:
    settings = stack(type="LoadBalancer")

    assert outputs.connect_command(settings, names(settings, "1"), "192.0.2.1") == "curl http://192.0.2.1/v1/models"
    assert outputs.verify_command(settings, names(settings, "1"), "192.0.2.1").startswith("mmserve verify --url http://192.0.2.1 ")


def test_a_separate_proxy_is_what_is_forwarded_to() -> None:
    settings = load({"router": {"proxy": {"mode": "service"}}})

    assert "service/multimodal-serving-proxy" in outputs.connect_command(settings, names(settings, "1"), "10.0.0.1")


def test_selector() -> None:
    assert outputs.selector(stack()) == "llm-d.ai/guide=aggregation"
