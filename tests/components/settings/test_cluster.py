"""Cluster, namespace, definitions, token: their short forms and their rules."""

import pytest
from pydantic import TypeAdapter, ValidationError

from components.settings.cluster import (
    Bundle,
    BundleSettings,
    Cluster,
    ClusterSettings,
    CrdsSettings,
    HuggingFaceSettings,
    Namespace,
    NamespaceSettings,
)

CLUSTER: TypeAdapter[ClusterSettings] = TypeAdapter(Cluster)
NAMESPACE: TypeAdapter[NamespaceSettings] = TypeAdapter(Namespace)
BUNDLE: TypeAdapter[BundleSettings] = TypeAdapter(Bundle)


def test_short_forms() -> None:
    assert CLUSTER.validate_python("gke").kind == "gke"
    assert NAMESPACE.validate_python("here").name == "here"
    assert BUNDLE.validate_python("assume").source == "assume"
    assert CrdsSettings.model_validate({"inferenceExtension": "assume"}).inference_extension.source == "assume"


def test_a_namespace_is_created_unless_told_otherwise() -> None:
    assert NAMESPACE.validate_python("here").create
    assert not NAMESPACE.validate_python({"name": "here", "create": False}).create


@pytest.mark.parametrize("name", ["", "Upper", "a_b", "-a", "a-", "a" * 64, "a.b"])
def test_a_namespace_is_a_dns_label(name: str) -> None:
    with pytest.raises(ValidationError):
        NAMESPACE.validate_python(name)


@pytest.mark.parametrize("name", ["", "Upper", "-a", "a-"])
def test_the_existing_secret_has_a_valid_name(name: str) -> None:
    with pytest.raises(ValidationError):
        HuggingFaceSettings.model_validate({"existingSecret": name})


@pytest.mark.parametrize("digest", ["", "abc", "G" * 64])
def test_a_manifest_is_pinned_by_a_whole_digest(digest: str) -> None:
    with pytest.raises(ValidationError):
        BUNDLE.validate_python({"source": "manifest", "sha256": digest})
