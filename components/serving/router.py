"""The router: identity and rights, documents, pool, workloads, Services."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as k8s

from components.plan import endpoint_picker, engine_config, envoy, pool, proxy, rbac, service
from components.plan.names import Names
from components.settings.stack import StackSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterArgs:
    """`after` is the namespace, `definitions` the pool's definition where this program installs it."""

    settings: StackSettings
    names: Names
    after: Sequence[pulumi.Resource]
    definitions: Sequence[pulumi.Resource]


class Router(pulumi.ComponentResource):
    """Created in the order in which the engine needs things: rights, documents and pool, then workloads, then Services."""

    endpoint_ip: pulumi.Output[str | None]

    def __init__(self, name: str, args: RouterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd:serving:Router", name, {}, opts)
        self._name, self._args, self._names = name, args, args.names
        documents, bootstrap = engine_config.files(args.settings), {envoy.FILE: envoy.bootstrap(args.settings, args.names)}
        needed = [
            *self._rights(),
            self._config_map("engine", args.names.endpoint_picker, documents),
            self._config_map("proxy", args.settings.router.proxy.config_map, bootstrap),
            *self._pool(),
        ]
        apart = args.settings.router.proxy.mode == "service"
        read = endpoint_picker.config_hash(documents) if apart else endpoint_picker.config_hash(documents, bootstrap)
        engine = k8s.apps.v1.Deployment(
            f"{name}-engine",
            metadata=self._metadata(args.names.endpoint_picker, {**args.names.common_labels, **args.names.mode_label}),
            spec=endpoint_picker.deployment(args.settings, args.names, read),
            opts=self._after(*needed),
        )
        behind = k8s.core.v1.Service(
            f"{name}-engine",
            metadata=self._metadata(args.names.endpoint_picker, args.names.common_labels),
            spec=service.engine(args.settings, args.names),
            opts=self._after(engine),
        )
        front = self._front(engine, needed, bootstrap) if service.has_own_service(args.settings) else behind
        outside = args.settings.router.service.type == "LoadBalancer"
        self.endpoint_ip = front.status.apply(_outside) if outside else front.spec.apply(lambda spec: spec.cluster_ip)
        self.register_outputs({"endpointIp": self.endpoint_ip})

    def _rights(self) -> list[pulumi.Resource]:
        names = self._names
        account = k8s.core.v1.ServiceAccount(
            f"{self._name}-account", metadata=self._metadata(names.endpoint_picker, names.common_labels), opts=self._after()
        )
        bound = [resource for role in rbac.roles(names) for resource in self._role(role)]
        if self._args.settings.monitoring.enabled:
            bound += self._cluster_role(rbac.metrics_reader(names))
        return [account, *bound]

    def _role(self, role: rbac.Role) -> list[pulumi.Resource]:
        created = k8s.rbac.v1.Role(
            f"{self._name}-{role.key}", metadata=self._metadata(role.name, self._names.common_labels), rules=role.rules, opts=self._after()
        )
        binding = k8s.rbac.v1.RoleBinding(
            f"{self._name}-{role.key}",
            metadata=self._metadata(role.name),
            subjects=[self._subject()],
            role_ref={"api_group": rbac.RBAC_GROUP, "kind": "Role", "name": role.name},
            opts=self._after(created),
        )
        return [created, binding]

    def _cluster_role(self, role: rbac.Role) -> list[pulumi.Resource]:
        created = k8s.rbac.v1.ClusterRole(
            f"{self._name}-{role.key}",
            metadata={"name": role.name, "labels": self._names.common_labels},
            rules=role.rules,
            opts=self._after(),
        )
        binding = k8s.rbac.v1.ClusterRoleBinding(
            f"{self._name}-{role.key}",
            metadata={"name": role.name},
            subjects=[self._subject()],
            role_ref={"api_group": rbac.RBAC_GROUP, "kind": "ClusterRole", "name": role.name},
            opts=self._after(created),
        )
        return [created, binding]

    def _config_map(self, key: str, name: str, data: Mapping[str, str]) -> pulumi.Resource:
        return k8s.core.v1.ConfigMap(f"{self._name}-{key}", metadata=self._metadata(name), data=data, opts=self._after())

    def _pool(self) -> list[pulumi.Resource]:
        if not self._names.pool:
            return []
        created = k8s.apiextensions.CustomResource(
            f"{self._name}-pool",
            api_version=pool.API_VERSION,
            kind=pool.KIND,
            metadata=self._metadata(self._names.release, self._names.common_labels),
            spec=pool.spec(self._args.settings, self._names),
            opts=self._after(*self._args.definitions),
        )
        return [created]

    def _front(self, engine: pulumi.Resource, needed: Sequence[pulumi.Resource], bootstrap: Mapping[str, str]) -> k8s.core.v1.Service:
        """The client's own Service, and the proxy's Deployment where it stands apart."""
        settings, names = self._args.settings, self._names
        apart = settings.router.proxy.mode == "service"
        labels = {**names.common_labels, **(names.proxy_selector if apart else {})}
        if apart:
            engine = k8s.apps.v1.Deployment(
                f"{self._name}-proxy",
                metadata=self._metadata(names.proxy, labels),
                spec=proxy.deployment(settings, names, endpoint_picker.config_hash(bootstrap)),
                opts=self._after(*needed),
            )
        return k8s.core.v1.Service(
            f"{self._name}-proxy",
            metadata={**self._metadata(names.proxy, labels), "annotations": service.annotations(settings)},
            spec=service.proxy(settings, names),
            opts=self._after(engine),
        )

    def _metadata(self, name: str, labels: Mapping[str, str] | None = None) -> "k8s.meta.v1.ObjectMetaArgsDict":
        metadata: k8s.meta.v1.ObjectMetaArgsDict = {"name": name, "namespace": self._names.namespace}
        return {**metadata, "labels": labels} if labels else metadata

    def _subject(self) -> "k8s.rbac.v1.SubjectArgsDict":
        return {"kind": "ServiceAccount", "name": self._names.endpoint_picker, "namespace": self._names.namespace}

    def _after(self, *dependencies: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, depends_on=[*self._args.after, *dependencies])


def _outside(status: "k8s.core.v1.outputs.ServiceStatus | None") -> str | None:
    """A load balancer's address or host name; None while it has none."""
    ingress = status.load_balancer.ingress if status and status.load_balancer else None
    return (ingress[0].ip or ingress[0].hostname) if ingress else None
