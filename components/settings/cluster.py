"""Where a stack runs: the cluster, the namespace, the definitions that others may already have installed."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from components.settings.section import Section

LABEL = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"  # a DNS label, which names of namespaces are


class ClusterSettings(Section):
    """An existing cluster (its kubeconfig is the secret key `kubeconfig`, else the ambient context), or one to create."""

    kind: Literal["existing", "gke", "coreweave"] = "existing"
    context: str | None = None
    name: str | None = None
    project: str | None = None
    location: str | None = None


class NamespaceSettings(Section):
    """The namespace of everything; created unless told otherwise."""

    name: str = Field(default="llm-d-multimodal-serving", pattern=LABEL)
    create: bool = True


class BundleSettings(Section):
    """Where a bundle of definitions comes from: written in this program, a manifest, or somebody else."""

    source: Literal["bundled", "manifest", "assume"] = "bundled"
    manifest: str | None = None
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")


class LeaderWorkerSetSettings(Section):
    """The controller that the disaggregated topologies need."""

    source: Literal["chart", "assume"] = "chart"
    version: str = "0.11.1"  # the first release with everything the guide asks for


class HuggingFaceSettings(Section):
    """How the model servers get their token: the secret key `huggingFaceToken`, or a Secret that exists."""

    existing_secret: str | None = Field(default=None, pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")


def _kind(value: object) -> object:
    return {"kind": value} if isinstance(value, str) else value


def _name(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


def _source(value: object) -> object:
    return {"source": value} if isinstance(value, str) else value


Cluster = Annotated[ClusterSettings, BeforeValidator(_kind)]
Namespace = Annotated[NamespaceSettings, BeforeValidator(_name)]
Bundle = Annotated[BundleSettings, BeforeValidator(_source)]


class CrdsSettings(Section):
    """Definitions of custom resources, a bundle each."""

    inference_extension: Bundle = BundleSettings()
