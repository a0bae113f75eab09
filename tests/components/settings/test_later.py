"""What is typed and not built is refused by name."""

from typing import Any

import pytest

from components.settings.complaints import SettingsError
from components.settings.stack import load

LATER: list[tuple[dict[str, Any], str]] = [
    ({"topology": "e-pd"}, "topology"),
    ({"topology": "e-p-d", "provider": "coreweave"}, "topology"),
    ({"accelerator": "xpu"}, "accelerator"),
    ({"accelerator": "tpu/v7", "provider": "gke"}, "accelerator"),
    ({"topology": "e-pd", "accelerator": "xpu", "modelServer": "sglang", "model": "moonshotai/Kimi-VL-A3B-Instruct"}, "topology"),
    ({"model": "google/gemma-4-31B-it"}, "model"),
    ({"model": "somebody/else"}, "model"),
    ({"model": {"name": "Qwen/Qwen3-VL-32B-Instruct", "factor": 784}}, "model"),
    ({"cluster": "gke"}, "cluster.kind"),
    ({"cluster": {"kind": "coreweave"}}, "cluster.kind"),
    ({"cluster": {"name": "c"}}, "cluster.name"),
    ({"workload": "deployment"}, "workload"),
    ({"lws": {"source": "assume"}}, "lws"),
    ({"crds": {"inferenceExtension": "manifest"}}, "crds.inferenceExtension.source"),
    ({"crds": {"inferenceExtension": {"manifest": "x.yaml"}}}, "crds.inferenceExtension.manifest"),
    ({"tracing": True}, "tracing.enabled"),
    ({"monitoring": {"authentication": True}}, "monitoring.authentication"),
    ({"router": {"mode": "gateway"}}, "router.mode"),
    ({"router": {"gateway": "istio"}}, "router.gateway"),
    ({"router": {"proxy": {"kind": "agentgateway"}}}, "router.proxy.kind"),
    ({"router": {"replicas": 2}}, "router.replicas"),
    ({"router": {"image": {"build": {}}}}, "router.image.build"),
    ({"router": {"clientTlsSecret": "tls"}}, "router.clientTlsSecret"),
    ({"router": {"apiKeys": True}}, "router.apiKeys"),
    ({"tiers": {"encode": {}}}, "tiers.encode"),
    ({"tiers": {"prefill": {"replicas": 2}}}, "tiers.prefill"),
    ({"tiers": {"decode": {"accelerator": "xpu"}}}, "tiers.decode.accelerator"),
    ({"tiers": {"decode": {"disruptionBudget": {"minAvailable": 1}}}}, "tiers.decode.disruptionBudget"),
    ({"tiers": {"decode": {"autoscaling": {"max": 9}}}}, "tiers.decode.autoscaling"),
]


@pytest.mark.parametrize(("values", "key"), LATER, ids=[f"{key}-{index}" for index, (_, key) in enumerate(LATER)])
def test_not_yet(values: dict[str, Any], key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(values)

    (line,) = caught.value.lines
    assert line.startswith(f"multimodal-serving:{key}: ")
    assert ": not yet: use " in line


@pytest.mark.parametrize(
    "values", [{}, {"provider": "gke"}, {"tiers": {"decode": {"accelerator": "gpu"}}}, {"tracing": False}, {"cluster": "existing"}]
)
def test_what_is_built_passes(values: dict[str, Any]) -> None:
    assert load(values).topology == "aggregation"
