"""The provider of a cluster that exists."""

from pathlib import Path

from tests.support.programs import program

BODY = """
from components.infra.existing_cluster import ExistingCluster, ExistingClusterArgs
from components.settings.cluster import ClusterSettings
settings = ClusterSettings.model_validate({settings})
kubeconfig = pulumi.Config().get_secret("kubeconfig")
found = ExistingCluster("existing", ExistingClusterArgs(settings=settings, kubeconfig=kubeconfig))
"""


def test_the_ambient_cluster_needs_nothing(tmp_path: Path) -> None:
    recording = program(tmp_path)(BODY.format(settings={}))

    (provider,) = [r for r in recording.resources if r.name == "existing" and r.custom]
    assert provider.inputs == {
        "clusterIdentifier": "existing",
        "enableConfigMapMutable": "true",
        "enableSecretMutable": "true",
        "enableServerSideApply": "true",
    }


def test_a_context_identifies_the_cluster(tmp_path: Path) -> None:
    recording = program(tmp_path)(BODY.format(settings={"context": "gpu-1"}))

    (provider,) = [r for r in recording.resources if r.name == "existing" and r.custom]
    assert (provider.inputs["context"], provider.inputs["clusterIdentifier"]) == ("gpu-1", "gpu-1")


def test_a_kubeconfig_stays_secret(tmp_path: Path) -> None:
    recording = program(tmp_path)(BODY.format(settings={}), secrets={"kubeconfig": "users: []"})

    (provider,) = [r for r in recording.resources if r.name == "existing" and r.custom]
    assert provider.inputs["kubeconfig"] == "[secret]"
