import pytest

from local.errors import LocalError
from local.plan import declared_ports, plan_stack
from local.pods import expand
from tests.support.manifests import (
    NAMESPACE,
    config_map,
    deployment,
    engine_container,
    model_container,
    pool,
    router_deployment,
    service,
    small_stack,
)


def test_the_router_comes_first_and_clients_reach_it_through_its_service() -> None:
    plan = plan_stack("default", small_stack(replicas=3))

    assert [pod.workload for pod in plan.pods] == ["router", "model", "model", "model"]
    assert plan.url == f"http://{plan.addresses[plan.pods[0].key]}:8081"


def test_the_url_is_the_same_at_each_run_and_another_for_another_stack() -> None:
    assert plan_stack("a", small_stack()).url == plan_stack("a", small_stack()).url
    assert plan_stack("a", small_stack()).url != plan_stack("b", small_stack()).url


def test_members_of_the_pool_are_the_model_servers() -> None:
    plan = plan_stack("default", small_stack())

    assert [(pod.workload, url) for pod, url in plan.model_servers] == [
        ("model", f"http://{plan.addresses[plan.pods[1].key]}:8000"),
        ("model", f"http://{plan.addresses[plan.pods[2].key]}:8000"),
    ]


def test_counters_are_read_on_the_model_servers_own_port() -> None:
    model = model_container(ports=[{"name": "modelserver", "containerPort": 8200}])

    assert plan_stack("default", small_stack(1, model)).model_servers[0][1].endswith(":8200")


@pytest.mark.parametrize(("flags", "port"), [([], 9090), (["--metrics-port=9191"], 9191)], ids=["default", "flag"])
def test_engines_are_known_with_their_metrics(flags: list[str], port: int) -> None:
    objects = [router_deployment(args=["--pool-name", "pool", *flags]), deployment(), service(), pool(), small_stack()[0]]
    [(pod, url)] = plan_stack("default", objects).engines

    assert pod.workload == "router"
    assert url.endswith(f":{port}/metrics")


@pytest.mark.parametrize(
    ("args", "model"),
    [(["tiny/model"], "tiny/model"), (["tiny/model", "--served-model-name=short"], "short"), (["--x=1", "a/b"], "a/b")],
    ids=["positional", "served-name", "after-a-flag"],
)
def test_the_models_name_comes_from_its_servers(args: list[str], model: str) -> None:
    assert plan_stack("default", small_stack(1, model_container(args=args))).model == model


def test_a_given_model_name_wins() -> None:
    assert plan_stack("default", small_stack(), model="given").model == "given"


def test_all_declared_ports_are_planned_for() -> None:
    plan = plan_stack("default", small_stack(1))
    router, server = (plan.addresses[pod.key] for pod in plan.pods)

    assert plan.ports == [(router, 9002), (router, 9090), (router, 8081), (server, 8000)]


def test_ports_of_init_containers_count_once() -> None:
    [pod] = expand([deployment(containers=[engine_container()], initContainers=[engine_container()])])

    assert declared_ports(pod) == [9002, 9090, 8081]


@pytest.mark.parametrize("with_pool", [True, False])
def test_objects_without_a_namespace_are_applied_where_the_router_is(with_pool: bool) -> None:
    servers = deployment()
    del servers["metadata"]["namespace"]
    flags = ["--pool-name", "pool"] if with_pool else ["--endpoint-selector", "app=model", "--endpoint-target-ports", "8000"]
    objects = [config_map(), router_deployment(args=flags), servers, service(), *([pool()] if with_pool else [])]

    assert {pod.namespace for pod in plan_stack("default", objects).pods} == {NAMESPACE}


def test_a_stack_without_workloads_is_refused() -> None:
    with pytest.raises(LocalError, match="no workload"):
        plan_stack("default", [service()])


def test_a_pool_that_selects_nobody_is_refused() -> None:
    objects = [*small_stack()[:4], pool(selector={"app": "nobody"})]

    with pytest.raises(LocalError, match="no pod carries its labels"):
        plan_stack("default", objects)


def test_a_stack_that_clients_cannot_reach_is_refused() -> None:
    objects = [item for item in small_stack() if item["kind"] != "Service"]

    with pytest.raises(LocalError, match="no Service has a port named 'http'"):
        plan_stack("default", objects)
