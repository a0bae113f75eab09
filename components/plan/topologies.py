"""The tiers of a topology: which roles it has, and the numbers of each where the stack gives none."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from components.plan.accelerators import ACCELERATORS, Accelerator
from components.settings.complaints import PREFIX, SettingsError
from components.settings.model_servers import TierSettings
from components.settings.quantities import amount
from components.settings.stack import StackSettings

STARTUP_INITIAL_DELAY_SECONDS: Final = 15
STARTUP_PERIOD_SECONDS: Final = 30
SCHEDULING_SLACK_SECONDS: Final = 400  # image pull and scheduling, before the startup probe's budget begins


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleDefaults:
    """One role of a topology on its reference hardware."""

    replicas: int
    tensor_parallel_size: int
    requests: Mapping[str, str]
    limits: Mapping[str, str]
    shared_memory: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """One role, completely decided."""

    role: str
    name: str  # of the workload
    service_account: str
    labels: Mapping[str, str]  # of every object of the tier's stack
    accelerator: Accelerator
    replicas: int
    tensor_parallel_size: int
    requests: Mapping[str, str]
    limits: Mapping[str, str]
    shared_memory: str
    settings: TierSettings

    @property
    def role_labels(self) -> dict[str, str]:
        """Labels of the workload, its selector and its pods."""
        return {**self.labels, "llm-d.ai/role": self.role}

    @property
    def startup_failures(self) -> int:
        """Probes that fit into the startup budget, rounded up."""
        return -(-self.settings.startup_budget_seconds // STARTUP_PERIOD_SECONDS)

    @property
    def progress_deadline_seconds(self) -> int:
        """How long a roll-out may stand still: one pod's whole start-up."""
        return self.settings.startup_budget_seconds + SCHEDULING_SLACK_SECONDS

    @property
    def update_timeout_seconds(self) -> int:
        """A roll-out moves a quarter of the pods at a time, hence four start-ups at most."""
        return 4 * self.progress_deadline_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """How a topology names its objects and which roles it has."""

    guide: str
    prefix: str
    roles: Mapping[str, RoleDefaults]


AGGREGATION: Final = Topology(
    guide="aggregation",
    prefix="mm-baseline",
    roles={
        "decode": RoleDefaults(
            replicas=8,
            tensor_parallel_size=2,
            requests={"cpu": "8", "memory": "128Gi"},
            limits={"cpu": "16", "memory": "256Gi"},
            shared_memory="20Gi",
        )
    },
)
TOPOLOGIES: Final = {"aggregation": AGGREGATION}


def pod_selector(settings: StackSettings) -> dict[str, str]:
    """The label by which the pool selects the model servers of a topology."""
    return {"llm-d.ai/guide": TOPOLOGIES[settings.topology].guide}


def tiers(settings: StackSettings) -> list[Tier]:
    """The tiers of a stack, in the order in which a request passes them. Raises SettingsError for sizes that cannot work."""
    return [_tier(settings, role) for role in TOPOLOGIES[settings.topology].roles]


def _tier(settings: StackSettings, role: str) -> Tier:
    topology = TOPOLOGIES[settings.topology]
    defaults = topology.roles[role]
    own: TierSettings = getattr(settings.tiers, role)
    accelerator = ACCELERATORS[settings.accelerator]
    prefix = f"{topology.prefix}-{accelerator.name}-{settings.model_server}"
    tier = Tier(
        role=role,
        name=f"{prefix}-{role}",
        service_account=f"{prefix}-sa",
        labels={
            **pod_selector(settings),
            "llm-d.ai/model": settings.model.name.rsplit("/", 1)[-1],
            **accelerator.labels,
        },
        accelerator=accelerator,
        replicas=own.replicas or defaults.replicas,
        tensor_parallel_size=own.tensor_parallel_size or defaults.tensor_parallel_size,
        requests={**defaults.requests, **own.resources.requests},
        limits={**defaults.limits, **own.resources.limits},
        shared_memory=own.shared_memory or defaults.shared_memory,
        settings=own,
    )
    _check_sizes(tier)
    return tier


def _check_sizes(tier: Tier) -> None:
    key = f"{PREFIX}:tiers.{tier.role}"
    lines: list[str] = []
    if amount(tier.shared_memory) >= amount(tier.limits["memory"]):
        reason = "shared memory counts against the container's memory, so it must stay below it"
        lines.append(f"{key}.sharedMemory: {tier.shared_memory}: {reason} ({tier.limits['memory']})")
    for name in sorted(tier.requests.keys() & tier.limits.keys()):
        if amount(tier.requests[name]) > amount(tier.limits[name]):
            lines.append(f"{key}.resources.requests.{name}: {tier.requests[name]}: above the limit of {tier.limits[name]}")
    lines += [
        f"{key}.resources: {resource}: follows from tensorParallelSize, which is {tier.tensor_parallel_size}"
        for resource in sorted({tier.accelerator.resource} & (tier.requests.keys() | tier.limits.keys()))
    ]
    if lines:
        raise SettingsError(lines)
