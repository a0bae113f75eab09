"""Tells the Prometheus Operator what to scrape."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as k8s

from components.plan import monitoring
from components.plan.names import Names
from components.plan.topologies import Tier
from components.settings.stack import StackSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitoringArgs:
    """The namespace must exist first."""

    settings: StackSettings
    names: Names
    tiers: Sequence[Tier]
    after: Sequence[pulumi.Resource]


class Monitoring(pulumi.ComponentResource):
    """One ServiceMonitor for the engine, one PodMonitor for each role."""

    def __init__(self, name: str, args: MonitoringArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd:serving:Monitoring", name, {}, opts)
        namespace = args.settings.namespace.name
        child = pulumi.ResourceOptions(parent=self, depends_on=list(args.after))
        k8s.apiextensions.CustomResource(
            f"{name}-router",
            api_version=monitoring.API_VERSION,
            kind="ServiceMonitor",
            metadata={
                "name": f"{args.names.endpoint_picker}-monitor",
                "namespace": namespace,
                "labels": args.names.common_labels,
            },
            spec=monitoring.service_monitor(args.settings, args.names),
            opts=child,
        )
        for tier in args.tiers:
            k8s.apiextensions.CustomResource(
                f"{name}-{tier.role}",
                api_version=monitoring.API_VERSION,
                kind="PodMonitor",
                metadata={"name": tier.role, "namespace": namespace, "labels": monitoring.role_labels(tier)},
                spec=monitoring.pod_monitor(args.settings, tier),
                opts=child,
            )
        self.register_outputs({})
