"""A cluster that is there already, reached by a kubeconfig from the stack's secrets or by the ambient context."""

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as k8s

from components.settings.cluster import ClusterSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingClusterArgs:
    """`kubeconfig` None takes the ambient one."""

    settings: ClusterSettings
    kubeconfig: pulumi.Output[str] | None


class ExistingCluster(pulumi.ComponentResource):
    """The one provider that every Kubernetes object of the stack names explicitly."""

    provider: k8s.Provider

    def __init__(self, name: str, args: ExistingClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd:infra:ExistingCluster", name, {}, opts)
        self.provider = k8s.Provider(
            name,
            kubeconfig=args.kubeconfig,
            context=args.settings.context,
            # With an identifier a renewed kubeconfig updates the provider instead of replacing it and all objects under it.
            cluster_identifier=args.settings.context or "existing",
            enable_server_side_apply=True,
            enable_config_map_mutable=True,
            enable_secret_mutable=True,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({})
