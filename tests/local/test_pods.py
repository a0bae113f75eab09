import re

import pytest

from local.errors import LocalError
from local.pods import asked_for, expand, generated, matches
from tests.support.manifests import NAMESPACE, deployment, service


def test_a_deployment_becomes_as_many_pods_as_its_replicas_up_to_the_limit() -> None:
    assert len(expand([deployment(replicas=8)])) == 4
    assert len(expand([deployment(replicas=8)], limit=None)) == 8
    assert len(expand([deployment(replicas=8)], limit=2)) == 2
    assert len(expand([deployment(replicas=1)], limit=3)) == 1
    assert expand([deployment(replicas=0)]) == []


def test_the_stacks_own_number_of_pods_is_known() -> None:
    assert asked_for([deployment("web", replicas=9), service("web"), deployment("api", replicas=1)]) == 10


def test_names_look_like_those_of_a_replica_set_and_stay_the_same() -> None:
    first = [pod.name for pod in expand([deployment(replicas=3)])]

    assert first == [pod.name for pod in expand([deployment(replicas=3)])]
    assert len(set(first)) == 3
    assert all(re.fullmatch(r"model-[bcdfghjklmnpqrstvwxz2456789]{10}-[bcdfghjklmnpqrstvwxz2456789]{5}", name) for name in first)


def test_another_template_gets_another_hash() -> None:
    [one] = expand([deployment()])
    [other] = expand([deployment(terminationGracePeriodSeconds=5)])

    assert one.labels["pod-template-hash"] != other.labels["pod-template-hash"]
    assert one.name != other.name


def test_a_pod_carries_the_labels_of_its_template_and_its_role() -> None:
    [pod] = expand([deployment(labels={"llm-d.ai/role": "decode", "app": "x"})])

    assert pod.role == "decode"
    assert pod.labels["app"] == "x"
    assert pod.key == f"{NAMESPACE}/{pod.name}"


def test_an_object_without_a_namespace_is_applied_to_the_given_one() -> None:
    item = deployment()
    del item["metadata"]["namespace"]

    [pod] = expand([item], namespace="elsewhere")

    assert pod.namespace == "elsewhere"


@pytest.mark.parametrize("kind", ["LeaderWorkerSet", "DisaggregatedSet", "StatefulSet", "DaemonSet", "Job"])
def test_other_workloads_are_refused_by_name(kind: str) -> None:
    with pytest.raises(LocalError, match=f"{kind}/model: not yet played"):
        expand([{**deployment(), "kind": kind}])


def test_what_is_no_workload_makes_no_pod() -> None:
    assert expand([service()]) == []


def test_an_empty_selector_matches_nothing() -> None:
    assert not matches({}, {"a": "1"})
    assert matches({"a": "1"}, {"a": "1", "b": "2"})
    assert not matches({"a": "1", "b": "3"}, {"a": "1", "b": "2"})


def test_generated_text_has_the_wanted_length() -> None:
    assert len(generated("x", 5)) == 5
