"""Services of the router."""

from typing import Any

import pytest

from components.plan import service
from components.plan.names import names
from components.settings.stack import StackSettings, load

BALANCED: dict[str, Any] = {"service": {"type": "LoadBalancer"}}
APART: dict[str, Any] = {"proxy": {"mode": "service"}}


def stack(provider: str = "base", **router: Any) -> StackSettings:
    return load({"provider": provider, "router": router})


@pytest.mark.parametrize(
    ("router", "name"), [({}, "multimodal-serving-epp"), (BALANCED, "multimodal-serving-proxy"), (APART, "multimodal-serving-proxy")]
)
def test_which_service_clients_use(router: dict[str, Any], name: str) -> None:
    settings = stack(**router)

    assert service.endpoint_service(settings, names(settings, "1")) == name
    assert service.has_own_service(settings) == name.endswith("-proxy")


def test_ext_proc_and_metrics_never_leave_the_cluster() -> None:
    settings = stack(**BALANCED)
    engine: Any = service.engine(settings, names(settings, "1"))
    front: Any = service.proxy(settings, names(settings, "1"))

    assert engine["type"] == "ClusterIP"
    assert front["type"] == "LoadBalancer"
    assert [port["name"] for port in front["ports"]] == ["http"]


def test_ports_of_the_engine_s_service() -> None:
    settings = stack(service={"port": 8088})
    engine: Any = service.engine(settings, names(settings, "1"))

    assert [(p["name"], p["port"], p.get("target_port")) for p in engine["ports"]] == [
        ("grpc-ext-proc", 9002, None),
        ("http-metrics", 9090, None),
        ("http", 8088, 8081),
    ]


@pytest.mark.parametrize(("router", "key"), [(BALANCED, "llm-d-router-gateway"), (APART, "llm-d-router-proxy")])
def test_the_front_selects_whichever_pods_hold_the_proxy(router: dict[str, Any], key: str) -> None:
    settings = stack(**router)
    front: Any = service.proxy(settings, names(settings, "1"))

    assert list(front["selector"]) == [key]


def test_an_internal_load_balancer_is_annotated_and_the_stack_s_annotations_win() -> None:
    internal = {"type": "LoadBalancer", "internal": True}

    assert service.annotations(stack("gke", service=internal)) == {"networking.gke.io/load-balancer-type": "Internal"}
    assert service.annotations(stack("gke", service={**internal, "annotations": {"a": "b"}}))["a"] == "b"
    assert service.annotations(stack("gke", **BALANCED)) == {}
