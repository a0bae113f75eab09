"""The objects of one role."""

from local.record import Recorded
from tests.support.recordings import objects, recorded


def resource(kind: str) -> Recorded:
    parent = next(r for r in recorded("default").resources if r.name == "model-server-decode")
    return next(r for r in recorded("default").resources if r.parent == parent.urn and r.inputs.get("kind") == kind)


def test_a_tier_is_an_account_and_a_deployment() -> None:
    parent = next(r for r in recorded("default").resources if r.name == "model-server-decode")

    assert sorted(r.inputs["kind"] for r in recorded("default").resources if r.parent == parent.urn) == ["Deployment", "ServiceAccount"]


def test_the_account_mounts_no_token() -> None:
    account = objects("default")["ServiceAccount/mm-baseline-nvidia-gpu-vllm-sa"]

    assert account["automountServiceAccountToken"] is False


def test_waits_are_longer_than_the_start_up_budget() -> None:
    deadline = objects("default")["Deployment/mm-baseline-nvidia-gpu-vllm-decode"]["spec"]["progressDeadlineSeconds"]

    timeouts = resource("Deployment").options["customTimeouts"]
    assert timeouts == {"create": f"{deadline + 60}s", "update": f"{4 * deadline}s", "delete": "10m"}


def test_the_deployment_waits_for_account_and_token() -> None:
    names = {urn.rsplit("::", 1)[-1] for urn in resource("Deployment").options["dependencies"]}

    assert {"model-server-decode-account", "workspace-token", "workspace-namespace"} <= names
