"""The definitions we write against the released ones: equal but for the descriptions, which are in our own words."""

from typing import Any

import pytest

from components.crds import inference_pool
from tests.support.recordings import documents, reference_folder

RELEASED = reference_folder() / "crds" / "inference.networking.k8s.io_inferencepools-v1.5.0.yaml"

pytestmark = pytest.mark.skipif(not RELEASED.is_file(), reason=f"no released definition at {RELEASED} (REFERENCE_DIR names the folder)")


def structure(value: Any, inside_properties: bool = False) -> Any:
    """Everything but descriptions; a field may itself be called `description`."""
    if isinstance(value, dict):
        return {
            name: structure(item, inside_properties=name == "properties" and not inside_properties)
            for name, item in value.items()
            if inside_properties or name != "description"
        }
    if isinstance(value, list):
        return [structure(item) for item in value]
    return value


def released() -> dict[str, Any]:
    (document,) = documents(RELEASED)
    return document


def descriptions(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {" ".join(value["description"].split())} if isinstance(value.get("description"), str) else set[str]()
        return own.union(*(descriptions(item) for item in value.values()))
    if isinstance(value, list):
        return set[str]().union(*(descriptions(item) for item in value))
    return set()


def test_inference_pool_has_the_released_structure() -> None:
    assert structure(inference_pool.spec()) == structure(released()["spec"])


def test_inference_pool_has_the_released_name_and_annotations() -> None:
    metadata = released()["metadata"]

    assert metadata["name"] == inference_pool.NAME
    assert metadata["annotations"] == inference_pool.ANNOTATIONS


def test_inference_pool_descriptions_are_our_own() -> None:
    assert descriptions(inference_pool.spec()) & descriptions(released()["spec"]) == set()
