"""Tiers of model servers: one per role, each field overriding what the topology brings."""

from typing import Any, Literal

from pydantic import Field, model_validator

from components.settings.images import Image, PullPolicy
from components.settings.quantities import Quantity, amount
from components.settings.section import Section, refusal

Accelerator = Literal["gpu", "xpu", "tpu/v7"]


class ResourcesSettings(Section):
    """Requests and limits of a container; keys are resource names."""

    requests: dict[str, Quantity] = Field(default_factory=dict[str, str])
    limits: dict[str, Quantity] = Field(default_factory=dict[str, str])

    @model_validator(mode="after")
    def _limits_hold_requests(self) -> "ResourcesSettings":
        for name in self.requests.keys() & self.limits.keys():
            if amount(self.requests[name]) > amount(self.limits[name]):
                raise ValueError(f"requests.{name} is {self.requests[name]}, above limits.{name}, which is {self.limits[name]}")
        return self


class TolerationSettings(Section):
    """A toleration, as Kubernetes spells it."""

    key: str | None = None
    operator: Literal["Exists", "Equal"] = "Equal"
    value: str | None = None
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None
    toleration_seconds: int | None = Field(default=None, ge=0)


class VolumeSettings(Section):
    """A volume of the model server, for example a cache of weights: an existing claim, or empty with a size limit."""

    name: str = Field(pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")
    mount_path: str = Field(pattern=r"^/")
    claim: str | None = None
    size_limit: Quantity | None = None
    read_only: bool = False

    @model_validator(mode="after")
    def _one_source(self) -> "VolumeSettings":
        if self.claim is not None and self.size_limit is not None:
            raise ValueError("claim and sizeLimit exclude each other: a claim brings its own size")
        return self


class TierSettings(Section):
    """One role. Fields that are not given come from the topology."""

    replicas: int | None = Field(default=None, ge=1, le=1000)
    accelerator: Accelerator | None = None
    tensor_parallel_size: int | None = Field(default=None, ge=1, le=64)
    resources: ResourcesSettings = ResourcesSettings()
    shared_memory: Quantity | None = None
    extra_args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict[str, str])
    image: Image | None = None
    image_pull_policy: PullPolicy | None = None
    image_pull_secrets: tuple[str, ...] = ()
    node_selector: dict[str, str] = Field(default_factory=dict[str, str])
    tolerations: tuple[TolerationSettings, ...] = ()
    volumes: tuple[VolumeSettings, ...] = ()
    startup_budget_seconds: int = Field(default=3600, ge=60, le=86400)
    disruption_budget: dict[str, Any] | None = None
    autoscaling: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _args_do_not_repeat(self) -> "TierSettings":
        for text in self.extra_args:
            flag = text.split("=", 1)[0]
            if flag in ("--tensor-parallel-size", "-tp", "--port"):
                raise refusal("extraArgs", text, f"{flag} has a setting of its own or follows from the topology")
        return self


class TiersSettings(Section):
    """The roles a topology may have."""

    encode: TierSettings | None = None
    prefill: TierSettings | None = None
    decode: TierSettings = TierSettings()
