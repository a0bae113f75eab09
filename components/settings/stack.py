"""Everything a stack may say, and the one way to read it."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from components.settings.cluster import (
    Cluster,
    ClusterSettings,
    CrdsSettings,
    HuggingFaceSettings,
    LeaderWorkerSetSettings,
    Namespace,
    NamespaceSettings,
)
from components.settings.combinations import MODELS, Combination, impossible
from components.settings.complaints import SettingsError, complaints, decoded
from components.settings.later import not_yet
from components.settings.model_servers import Accelerator, TiersSettings
from components.settings.models import QWEN3_VL_32B, Model, ModelSettings
from components.settings.router import Monitoring, MonitoringSettings, RouterSettings, Tracing, TracingSettings
from components.settings.section import Section, refusal

SECRET_KEYS = ("huggingFaceToken", "kubeconfig")  # read apart, so that no error and no repr can show them


class StackSettings(Section):
    """The configuration of one stack; the defaults serve Qwen3-VL on an existing GPU cluster."""

    topology: Literal["aggregation", "e-pd", "e-p-d"] = "aggregation"
    accelerator: Accelerator = "gpu"
    provider: Literal["base", "gke", "coreweave"] = "base"
    model_server: Literal["vllm", "sglang"] = "vllm"
    model: Model = Field(default_factory=lambda: ModelSettings(name=QWEN3_VL_32B))
    cluster: Cluster = ClusterSettings()
    namespace: Namespace = NamespaceSettings()
    release_name: str = Field(default="multimodal-serving", pattern=r"^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$")
    tiers: TiersSettings = TiersSettings()
    workload: Literal["disaggregatedset", "deployment"] = "disaggregatedset"
    router: RouterSettings = Field(default_factory=RouterSettings)
    monitoring: Monitoring = MonitoringSettings()
    tracing: Tracing = TracingSettings()
    crds: CrdsSettings = CrdsSettings()
    lws: LeaderWorkerSetSettings = LeaderWorkerSetSettings()
    hugging_face: HuggingFaceSettings = HuggingFaceSettings()

    @model_validator(mode="after")
    def _can_work(self) -> "StackSettings":
        combination = Combination(self.topology, self.accelerator, self.provider, self.model_server)
        found = impossible(combination)
        if found is not None:
            value = {"topology": self.topology, "accelerator": self.accelerator, "provider": self.provider}.get(
                found.key, self.model_server
            )
            raise refusal(found.key, value, f"{combination} cannot work: {found.reason}; the nearest that can is {found.nearest}")
        models = MODELS[self.model_server]
        if self.model.name in {name for names in MODELS.values() for name in names} - set(models):
            raise refusal("model", self.model.name, f"{self.model_server} serves {' or '.join(models)} here")
        if self.router.service.internal and self.provider != "gke" and not self.router.service.annotations:
            reason = f"how {self.provider} makes a load balancer internal is not known; say it with router.service.annotations"
            raise refusal("router.service.internal", True, reason)
        return self

    @model_validator(mode="after")
    def _is_built(self) -> "StackSettings":
        for key, value, usable in not_yet(self):
            raise refusal(key, value, f"not yet: use {usable}")
        return self


def load(values: Mapping[str, Any]) -> StackSettings:
    """Read settings from top-level keys. Values may be data or, as the engine passes them, JSON text.

    Raises SettingsError with one line for each wrong value.
    """
    chosen = {key: decoded(value) for key, value in values.items() if key not in SECRET_KEYS}
    try:
        return StackSettings.model_validate(chosen)
    except ValidationError as error:
        raise SettingsError(complaints(error, StackSettings, SECRET_KEYS)) from None
