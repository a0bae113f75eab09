"""Model server pods."""

from typing import Any

import pytest

from components.plan import pod
from components.plan.topologies import tiers
from components.settings.stack import load


def container(**fields: Any) -> Any:
    settings = load({"tiers": {"decode": fields}})
    return pod.container(settings, tiers(settings)[0])


def spec(**fields: Any) -> Any:
    settings = load({"tiers": {"decode": fields}})
    return pod.pod(settings, tiers(settings)[0])


def test_verification_finds_container_and_port_by_name() -> None:
    found = container()

    assert found["name"] == "modelserver"
    assert found["ports"] == [{"name": "modelserver", "container_port": 8000, "protocol": "TCP"}]


@pytest.mark.parametrize(
    ("probe", "expected"),
    [
        ("startup_probe", ("/v1/models", 15, 30, 5, 120)),
        ("liveness_probe", ("/health", None, 10, 5, 3)),
        ("readiness_probe", ("/v1/models", None, 5, 2, 3)),
    ],
)
def test_probes(probe: str, expected: tuple[object, ...]) -> None:
    found = container()[probe]

    names = ("initial_delay_seconds", "period_seconds", "timeout_seconds", "failure_threshold")
    assert (found["http_get"]["path"], *(found.get(name) for name in names)) == expected
    assert found["http_get"]["port"] == "modelserver"


@pytest.mark.parametrize("size", [1, 2, 8])
def test_the_pod_asks_for_as_many_accelerators_as_it_splits_the_model_over(size: int) -> None:
    resources = container(tensorParallelSize=size)["resources"]

    assert resources["requests"]["nvidia.com/gpu"] == resources["limits"]["nvidia.com/gpu"] == str(size)


def test_grace_covers_pause_and_drain() -> None:
    assert spec()["termination_grace_period_seconds"] == 75
    assert container()["lifecycle"] == {"pre_stop": {"exec_": {"command": ["sleep", "15"]}}}


def test_tolerations_of_accelerator_and_stack() -> None:
    found = spec(tolerations=[{"key": "team", "value": "a", "effect": "NoExecute", "tolerationSeconds": 60}, {"operator": "Exists"}])[
        "tolerations"
    ]

    assert found == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "team", "operator": "Equal", "value": "a", "effect": "NoExecute", "toleration_seconds": 60},
        {"operator": "Exists"},
    ]


def test_optional_fields_are_absent_unless_given() -> None:
    assert not {"node_selector", "image_pull_secrets"} & set(spec())
    assert "image_pull_policy" not in container()


def test_node_selector_pull_secrets_and_policy() -> None:
    found = spec(nodeSelector={"a": "b"}, imagePullSecrets=["s"], imagePullPolicy="Never")

    assert found["node_selector"] == {"a": "b"}
    assert found["image_pull_secrets"] == [{"name": "s"}]
    assert found["containers"][0]["image_pull_policy"] == "Never"


@pytest.mark.parametrize(("image", "policy"), [("vllm/x:main", "Always"), ("vllm/x:v1", "IfNotPresent")])
def test_an_image_of_the_stack_is_pulled_as_its_tag_deserves(image: str, policy: str) -> None:
    found = container(image=image)

    assert (found["image"], found["image_pull_policy"]) == (image, policy)


def test_volumes_are_mounted_where_told() -> None:
    volumes = [
        {"name": "weights", "mountPath": "/weights", "claim": "w", "readOnly": True},
        {"name": "scratch", "mountPath": "/scratch", "sizeLimit": "1Gi"},
        {"name": "free", "mountPath": "/free"},
    ]

    found = spec(volumes=volumes, sharedMemory="4Gi")

    assert found["volumes"][0] == {"name": "shm", "empty_dir": {"medium": "Memory", "size_limit": "4Gi"}}
    assert found["volumes"][4:] == [
        {"name": "weights", "persistent_volume_claim": {"claim_name": "w", "read_only": True}},
        {"name": "scratch", "empty_dir": {"size_limit": "1Gi"}},
        {"name": "free", "empty_dir": {}},
    ]
    mounts = {mount["name"]: mount for mount in found["containers"][0]["volume_mounts"]}
    assert mounts["weights"] == {"name": "weights", "mount_path": "/weights", "read_only": True}
    assert {v["name"] for v in found["volumes"]} == set(mounts)


def test_selector_and_pod_labels_agree() -> None:
    settings = load({})
    found: Any = pod.deployment(settings, tiers(settings)[0])

    assert found["selector"]["match_labels"] == found["template"]["metadata"]["labels"]
    assert found["progress_deadline_seconds"] == 4000
