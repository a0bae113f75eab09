"""Deploys multimodal model serving: settings, cluster, platform, serving, exports."""

import pulumi

from components.infra.existing_cluster import ExistingCluster, ExistingClusterArgs
from components.plan import outputs
from components.plan.names import names
from components.plan.topologies import tiers
from components.platform import configuration
from components.platform.crds import Crds, CrdsArgs
from components.platform.workspace import Workspace, WorkspaceArgs
from components.serving.model_server_tier import ModelServerTier, ModelServerTierArgs
from components.serving.monitoring import Monitoring, MonitoringArgs
from components.serving.router import Router, RouterArgs
from components.settings.complaints import SettingsError
from components.settings.stack import load
from router.version import VERSION


def main() -> None:
    """The whole stack, in the order in which its parts need each other."""
    try:
        settings = load(configuration.read())
        roles = tiers(settings)
        token = configuration.token(settings)
    except SettingsError as error:
        raise pulumi.RunError(error.located(f"Pulumi.{pulumi.get_stack()}.yaml")) from None
    called = names(settings, VERSION)

    cluster = ExistingCluster("cluster", ExistingClusterArgs(settings=settings.cluster, kubeconfig=configuration.secret("kubeconfig")))
    inside = pulumi.ResourceOptions(providers={"kubernetes": cluster.provider})

    workspace = Workspace("workspace", WorkspaceArgs(namespace=settings.namespace, token=token), inside)
    crds = Crds("crds", CrdsArgs(settings=settings), inside)

    router = Router("router", RouterArgs(settings=settings, names=called, after=workspace.ready, definitions=crds.ready), inside)
    for tier in roles:
        ModelServerTier(f"model-server-{tier.role}", ModelServerTierArgs(settings=settings, tier=tier, after=workspace.ready), inside)
    if settings.monitoring.enabled:
        Monitoring("monitoring", MonitoringArgs(settings=settings, names=called, tiers=roles, after=workspace.ready), inside)

    address = router.endpoint_ip.apply(lambda found: found or "pending")
    pulumi.export("endpointIp", router.endpoint_ip)
    pulumi.export("endpointUrl", address.apply(lambda at: outputs.url(settings, at)))
    pulumi.export("namespace", called.namespace)
    pulumi.export("model", settings.model.name)
    pulumi.export("topology", settings.topology)
    pulumi.export("podSelector", outputs.selector(settings))
    pulumi.export("connectCommand", address.apply(lambda at: outputs.connect_command(settings, called, at)))
    pulumi.export("verifyCommand", address.apply(lambda at: outputs.verify_command(settings, called, at)))


if __name__ == "__main__":
    main()
