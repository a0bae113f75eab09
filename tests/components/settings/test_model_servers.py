"""Tiers: the fields and the rules between them."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.settings.model_servers import ResourcesSettings, TierSettings, TiersSettings, VolumeSettings


@pytest.mark.parametrize(
    "fields",
    [
        {"replicas": 0},
        {"replicas": "many"},
        {"tensorParallelSize": 0},
        {"startupBudgetSeconds": 59},
        {"image": "vllm:latest"},
        {"sharedMemory": "lots"},
        {"accelerator": "npu"},
        {"imagePullPolicy": "Sometimes"},
        {"tolerations": [{"operator": "Like"}]},
        {"env": {"A": {"secretKeyRef": "x"}}},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_wrong_values_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TierSettings.model_validate(fields)


@pytest.mark.parametrize("argument", ["--tensor-parallel-size=4", "-tp=4", "--port=9", "--tensor-parallel-size"])
def test_extra_args_cannot_contradict_settings(argument: str) -> None:
    with pytest.raises(ValidationError, match="has a setting of its own"):
        TierSettings.model_validate({"extraArgs": [argument]})


def test_other_extra_args_are_kept_in_order() -> None:
    assert TierSettings.model_validate({"extraArgs": ["--b", "--a=1"]}).extra_args == ("--b", "--a=1")


def test_requests_stay_below_limits() -> None:
    with pytest.raises(ValidationError, match=r"requests\.memory is 2Gi, above limits\.memory, which is 1Gi"):
        ResourcesSettings.model_validate({"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}})


def test_requests_may_equal_limits() -> None:
    assert ResourcesSettings.model_validate({"requests": {"cpu": "1000m"}, "limits": {"cpu": 1}}).limits == {"cpu": "1"}


def test_a_volume_has_one_source() -> None:
    with pytest.raises(ValidationError, match="exclude each other"):
        VolumeSettings.model_validate({"name": "a", "mountPath": "/a", "claim": "c", "sizeLimit": "1Gi"})


@pytest.mark.parametrize("fields", [{"name": "A"}, {"mountPath": "relative"}])
def test_a_volume_has_a_name_and_an_absolute_path(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        VolumeSettings.model_validate({"name": "a", "mountPath": "/a", **fields})


def test_only_known_roles_exist() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        TiersSettings.model_validate({"decoder": {}})
