"""The objects of the router, per variant."""

from typing import Any

import pytest

from local.record import evaluate
from tests.support.recordings import objects


def kinds(stack: str) -> list[str]:
    ours = [
        name for name in objects(stack) if "multimodal-serving-" in name or name in ("ConfigMap/envoy", "InferencePool/multimodal-serving")
    ]
    return sorted(name for name in ours if not name.startswith("Namespace"))


def test_ten_objects_by_default() -> None:
    assert kinds("default") == [
        "ConfigMap/envoy",
        "ConfigMap/multimodal-serving-epp",
        "Deployment/multimodal-serving-epp",
        "InferencePool/multimodal-serving",
        "Role/multimodal-serving-epp-non-sa",
        "Role/multimodal-serving-epp-sa",
        "RoleBinding/multimodal-serving-epp-non-sa",
        "RoleBinding/multimodal-serving-epp-sa",
        "Service/multimodal-serving-epp",
        "ServiceAccount/multimodal-serving-epp",
    ]


@pytest.mark.parametrize(
    ("stack", "more", "fewer"),
    [
        ("proxy-service", {"Deployment/multimodal-serving-proxy", "Service/multimodal-serving-proxy"}, set[str]()),
        ("load-balancer", {"Service/multimodal-serving-proxy"}, set[str]()),
        ("plaintext", set[str](), set[str]()),
        (
            "no-pool",
            set[str](),
            {"InferencePool/multimodal-serving", "Role/multimodal-serving-epp-non-sa", "RoleBinding/multimodal-serving-epp-non-sa"},
        ),
    ],
)
def test_variants_add_and_leave_out(stack: str, more: set[str], fewer: set[str]) -> None:
    assert set(kinds(stack)) == (set(kinds("default")) | more) - fewer


def annotation(config: dict[str, Any], deployment: str) -> str:
    items = {f"{i['kind']}/{i['metadata']['name']}": i for i in evaluate(config, stack="dev").objects}
    return items[f"Deployment/{deployment}"]["spec"]["template"]["metadata"]["annotations"]["checksum/config"]


def test_a_change_of_a_document_rolls_the_pods_that_read_it() -> None:
    own = {"kind": "EndpointPickerConfig", "plugins": []}
    apart: dict[str, Any] = {"mode": "service"}

    before = annotation({}, "multimodal-serving-epp")
    assert annotation({"router": {"pluginsConfig": own}}, "multimodal-serving-epp") != before
    assert annotation({"router": {"proxy": {"failOpen": True}}}, "multimodal-serving-epp") != before
    # A separate proxy does not read the engine's documents, nor the engine the proxy's.
    engine, proxy = (annotation({"router": {"proxy": apart}}, f"multimodal-serving-{name}") for name in ("epp", "proxy"))
    changed = {"router": {"pluginsConfig": own, "proxy": apart}}
    assert annotation(changed, "multimodal-serving-epp") != engine
    assert annotation(changed, "multimodal-serving-proxy") == proxy
    opened = {"router": {"proxy": {**apart, "failOpen": True}}}
    assert annotation(opened, "multimodal-serving-epp") == engine
    assert annotation(opened, "multimodal-serving-proxy") != proxy


def test_a_replica_count_alone_rolls_nothing() -> None:
    assert annotation({"tiers": {"decode": {"replicas": 2}}}, "multimodal-serving-epp") == annotation({}, "multimodal-serving-epp")


def test_two_stacks_can_share_a_cluster() -> None:
    def cluster_wide(namespace: str) -> set[str]:
        config = {"namespace": namespace, "monitoring": {"enabled": True}, "crds": {"inferenceExtension": "assume"}}
        return {f"{i['kind']}/{i['metadata']['name']}" for i in evaluate(config, stack="dev").objects if "namespace" not in i["metadata"]}

    assert cluster_wide("one") & cluster_wide("two") == set()


def test_an_internal_load_balancer_is_asked_for_where_clients_connect() -> None:
    front = objects("load-balancer")["Service/multimodal-serving-proxy"]

    assert front["metadata"]["annotations"] == {"networking.gke.io/load-balancer-type": "Internal"}
    assert "annotations" not in objects("load-balancer")["Service/multimodal-serving-epp"]["metadata"]
