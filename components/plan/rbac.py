"""What the engine may read, and who it is."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from components.plan.names import Names

if TYPE_CHECKING:
    from pulumi_kubernetes.rbac.v1 import PolicyRuleArgsDict

READ: Final = ("get", "watch", "list")
OBJECTIVE_KINDS: Final = ("inferenceobjectives", "inferencemodelrewrites")
RBAC_GROUP: Final = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A role and its binding, which share a name."""

    key: str  # for logical names
    name: str
    rules: "list[PolicyRuleArgsDict]"


def roles(names: Names) -> list[Role]:
    """Pods always; pool, objectives and rewrites where a pool exists. Nothing may be written."""
    pods = Role(key="pods", name=f"{names.endpoint_picker}-sa", rules=[_rule("", ("pods",))])
    if not names.pool:
        return [pods]
    inference = Role(
        key="inference",
        name=f"{names.endpoint_picker}-non-sa",
        rules=[
            _rule("inference.networking.x-k8s.io", OBJECTIVE_KINDS),  # objectives of older installations
            _rule("llm-d.ai", OBJECTIVE_KINDS),
            _rule("inference.networking.k8s.io", ("inferencepools",)),
        ],
    )
    return [pods, inference]


def metrics_reader(names: Names) -> Role:
    """Cluster-wide: the right to check the tokens of whoever scrapes the engine."""
    return Role(
        key="metrics",
        name=names.cluster_role,
        rules=[
            {"api_groups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]},
            {"api_groups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]},
            {"non_resource_urls": ["/metrics"], "verbs": ["get"]},
        ],
    )


def _rule(group: str, resources: tuple[str, ...]) -> "PolicyRuleArgsDict":
    return {"api_groups": [group], "resources": list(resources), "verbs": list(READ)}
