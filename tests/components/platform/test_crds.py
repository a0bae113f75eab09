"""Which definitions are installed."""

import pytest

from local.record import evaluate
from tests.support.recordings import objects, recorded

POOL = "CustomResourceDefinition/inferencepools.inference.networking.k8s.io"


def test_the_definition_is_awaited_and_retained() -> None:
    (resource,) = [r for r in recorded("default").resources if r.name == "crds-inference-pool"]

    assert resource.options["retainOnDelete"] is True
    assert objects("default")[POOL]["metadata"]["annotations"]["pulumi.com/waitFor"] == "condition=Established"


@pytest.mark.parametrize("stack", ["gke", "no-pool"])
def test_nothing_is_installed_that_the_cluster_brings_or_nobody_needs(stack: str) -> None:
    assert POOL not in objects(stack)


def test_the_pool_needs_no_definition_of_ours() -> None:
    recording = evaluate({"crds": {"inferenceExtension": "assume"}}, stack="dev")

    assert [item["kind"] for item in recording.objects].count("InferencePool") == 1
