"""Names and labels of the router's objects."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.plan.names import Names, names, token_secret
from components.settings.stack import load


def of(release: str = "multimodal-serving", namespace: str = "llm-d-multimodal-serving", pool: bool = True) -> Names:
    return Names(release=release, namespace=namespace, pool=pool, version="1.2.3")


def test_names_of_the_guide() -> None:
    found = names(load({}), "1.2.3")

    assert found.endpoint_picker == "multimodal-serving-epp"
    assert found.proxy == "multimodal-serving-proxy"
    assert found.cluster_role == "multimodal-serving-llm-d-multimodal-serving-epp"
    assert found.common_labels == {"app.kubernetes.io/name": "multimodal-serving-epp", "app.kubernetes.io/version": "1.2.3"}
    assert found.proxy_selector == {"llm-d-router-proxy": "multimodal-serving-proxy"}


@pytest.mark.parametrize(("pool", "key"), [(True, "llm-d-router-gateway"), (False, "llm-d-router-standalone")])
def test_labels_tell_whether_a_pool_exists(pool: bool, key: str) -> None:
    found = names(load({"router": {"pool": {"create": pool}}}), "1")

    assert found.selector == {key: "multimodal-serving-epp"}
    assert found.mode_label == {"llm-d.ai/igw-mode": key}


@given(
    st.from_regex(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True),
    st.from_regex(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True),
)
def test_derived_names_fit_labels_and_cluster_objects(release: str, namespace: str) -> None:
    found = of(release, namespace)

    assert len(found.endpoint_picker) <= 63
    assert len(found.proxy) <= 63
    assert len(found.cluster_role) <= 40 + 1 + 40 + 4


def test_cluster_wide_names_differ_between_namespaces() -> None:
    assert of(namespace="a").cluster_role != of(namespace="b").cluster_role


def test_the_token_secret_is_the_guide_s_or_an_existing_one() -> None:
    assert token_secret(load({})) == "llm-d-hf-token"
    assert token_secret(load({"huggingFace": {"existingSecret": "mine"}})) == "mine"
