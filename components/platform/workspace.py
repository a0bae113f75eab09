"""The namespace, and in it the token that model servers download weights with."""

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as k8s

from components.plan.names import HF_TOKEN_KEY, HF_TOKEN_SECRET
from components.settings.cluster import NamespaceSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceArgs:
    """`token` None: the Secret exists already."""

    namespace: NamespaceSettings
    token: pulumi.Output[str] | None


class Workspace(pulumi.ComponentResource):
    """What namespaced objects stand in; `ready` is what they depend on."""

    ready: list[pulumi.Resource]

    def __init__(self, name: str, args: WorkspaceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd:platform:Workspace", name, {}, opts)
        self.ready = []
        if args.namespace.create:
            namespace = k8s.core.v1.Namespace(
                f"{name}-namespace", metadata={"name": args.namespace.name}, opts=pulumi.ResourceOptions(parent=self)
            )
            self.ready.append(namespace)
        if args.token is not None:
            secret = k8s.core.v1.Secret(
                f"{name}-token",
                metadata={"name": HF_TOKEN_SECRET, "namespace": args.namespace.name},
                string_data={HF_TOKEN_KEY: args.token},
                opts=pulumi.ResourceOptions(parent=self, depends_on=list(self.ready)),
            )
            self.ready.append(secret)
        self.register_outputs({})
