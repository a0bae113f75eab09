"""The model servers of one role."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as k8s

from components.plan import pod
from components.plan.topologies import Tier
from components.settings.stack import StackSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServerTierArgs:
    """`after` must exist first: the namespace and the token."""

    settings: StackSettings
    tier: Tier
    after: Sequence[pulumi.Resource]


class ModelServerTier(pulumi.ComponentResource):
    """A ServiceAccount without rights and a Deployment that may take as long to start as its budget says."""

    def __init__(self, name: str, args: ModelServerTierArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd:serving:ModelServerTier", name, {}, opts)
        tier, namespace = args.tier, args.settings.namespace.name
        account = k8s.core.v1.ServiceAccount(
            f"{name}-account",
            metadata={"name": tier.service_account, "namespace": namespace, "labels": tier.labels},
            automount_service_account_token=False,
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(args.after)),
        )
        timeouts = pulumi.CustomTimeouts(
            create=f"{tier.progress_deadline_seconds + 60}s", update=f"{tier.update_timeout_seconds}s", delete="10m"
        )
        k8s.apps.v1.Deployment(
            f"{name}-workload",
            metadata={"name": tier.name, "namespace": namespace, "labels": tier.role_labels},
            spec=pod.deployment(args.settings, tier),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[*args.after, account], custom_timeouts=timeouts),
        )
        self.register_outputs({})
