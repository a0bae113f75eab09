"""Installs the definitions that this program's custom resources need, unless the cluster brings them."""

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as k8s

from components.crds import inference_pool
from components.settings.stack import StackSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class CrdsArgs:
    """Which bundles to install follows from the settings."""

    settings: StackSettings


class Crds(pulumi.ComponentResource):
    """Definitions outlive the stack: deleting one deletes all its objects, those of other stacks included."""

    ready: list[pulumi.Resource]

    def __init__(self, name: str, args: CrdsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd:platform:Crds", name, {}, opts)
        self.ready = []
        wanted = args.settings.router.pool.create
        if wanted and args.settings.crds.inference_extension.source == "bundled":
            annotations = {**inference_pool.ANNOTATIONS, "pulumi.com/waitFor": "condition=Established"}
            definition = k8s.apiextensions.v1.CustomResourceDefinition(
                f"{name}-inference-pool",
                metadata={"name": inference_pool.NAME, "annotations": annotations},
                spec=inference_pool.spec(),  # pyright: ignore[reportArgumentType] - data, in the API's spelling
                opts=pulumi.ResourceOptions(parent=self, retain_on_delete=True),
            )
            self.ready.append(definition)
        self.register_outputs({})
