"""Namespace and token."""

from tests.support.recordings import objects, recorded


def test_the_namespace_comes_first_and_holds_the_token() -> None:
    secret = next(r for r in recorded("default").resources if r.name == "workspace-token")

    assert "Namespace/llm-d-multimodal-serving" in objects("default")
    assert [urn.rsplit("::", 1)[-1] for urn in secret.options["dependencies"]] == ["workspace-namespace"]
    assert objects("default")["Secret/llm-d-hf-token"]["metadata"]["namespace"] == "llm-d-multimodal-serving"


def test_an_existing_namespace_and_secret_are_left_alone() -> None:
    assert not {"Namespace", "Secret"} & {name.split("/")[0] for name in objects("existing-secret")}
