"""InferencePool v1. Its equality with the released definition is checked in tests/fidelity."""

import re
from typing import Any

import kubernetes_validate
import pytest

from components.crds import inference_pool


def schema(*path: str) -> dict[str, Any]:
    found = inference_pool.spec()["versions"][0]["schema"]["openAPIV3Schema"]
    for name in path:
        found = found["properties"][name]
    return found


def test_the_definition_is_valid() -> None:
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": inference_pool.NAME, "annotations": inference_pool.ANNOTATIONS},
        "spec": inference_pool.spec(),
    }

    kubernetes_validate.validate(definition, "1.34", strict=True)


def test_names_agree() -> None:
    spec = inference_pool.spec()

    assert f"{spec['names']['plural']}.{spec['group']}" == inference_pool.NAME
    assert spec["names"]["shortNames"] == ["infpool"]


def test_the_picker_is_required_and_fails_closed_by_default() -> None:
    assert "endpointPickerRef" in schema("spec")["required"]
    assert schema("spec", "endpointPickerRef", "failureMode")["default"] == "FailClose"


def test_every_field_is_described() -> None:
    def undescribed(found: dict[str, Any], path: str) -> list[str]:
        inner = [*found.get("properties", {}).items(), *([("[]", found["items"])] if "items" in found else [])]
        missing = [path] if "description" not in found and path != ".metadata" else []
        return missing + [name for key, item in inner for name in undescribed(item, f"{path}.{key}")]

    assert undescribed(schema(), "") == []


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (inference_pool.LABEL_VALUE, ["", "a", "A.b-c_d"], ["-a", "a-", "a b"]),
        (inference_pool.NAMESPACE, ["a", "a-1"], ["", "A", "a."]),
        (inference_pool.REASON, ["A", "AbC_1"], ["", "1a", "a,"]),
        (inference_pool.CONTROLLER, ["example.net/gateway"], ["example.net", "/x"]),
        (inference_pool.CONDITION_TYPE, ["Accepted", "a.b/Accepted"], ["", "-a"]),
    ],
)
def test_patterns(pattern: str, good: list[str], bad: list[str]) -> None:
    assert all(re.match(pattern, text) for text in good)
    assert not any(re.match(pattern, text) for text in bad)
