"""The engine's configuration documents (kind EndpointPickerConfig) and the ConfigMap that holds them."""

from typing import Any, Final

import yaml

from components.settings.models import CATALOGUE, CatalogueEntry
from components.settings.stack import StackSettings

DIRECTORY: Final = "/config"
KIND: Final = "EndpointPickerConfig"
FILE: Final = {"aggregation": "aggregation-plugins.yaml"}
HD: Final = {"width": 1280, "height": 720}  # what media without a readable size is taken for


def path(settings: StackSettings) -> str:
    """The document the engine opens, inside its container."""
    return f"{DIRECTORY}/{FILE[settings.topology]}"


def files(settings: StackSettings) -> dict[str, str]:
    """Every document by file name: the two general ones, then the one of the topology."""
    chosen = settings.router.plugins_config or aggregation(CATALOGUE[settings.model.name])
    documents = {"default-plugins.yaml": general(), "payload-agnostic.yaml": payload_agnostic(), FILE[settings.topology]: chosen}
    return {name: yaml.safe_dump(document, sort_keys=False) for name, document in documents.items()}


def aggregation(model: CatalogueEntry) -> dict[str, Any]:
    """Affinity to pods that hold the prompt's prefix, images included, then the fewest tokens in flight."""
    affinity = {
        "peakPrefillThroughput": model.peak_prefill_throughput,
        "affinityThreshold": model.affinity_threshold,
        "maxTTFTPenaltyMs": model.max_ttft_penalty_ms,
    }
    return {
        "apiVersion": "llm-d.ai/v1",
        "kind": KIND,
        "plugins": [
            {"type": "token-producer", "parameters": {"estimate": _estimate(model.image_factor)}},
            {"type": "approx-prefix-cache-producer"},
            {"type": "inflight-load-producer"},
            {"type": "prefix-cache-affinity-filter", "parameters": affinity},
            {"type": "token-load-scorer"},
        ],
        "schedulingProfiles": [{"name": "default", "plugins": _references("prefix-cache-affinity-filter", "token-load-scorer")}],
    }


def general() -> dict[str, Any]:
    """Queue, cache use and prefix, for any model: what the engine can be switched to without media."""
    source = {"scheme": "http", "path": "/metrics", "insecureSkipVerify": True}
    weights = {"queue-scorer": 2, "kv-cache-utilization-scorer": 2, "prefix-cache-scorer": 3}
    return {
        "apiVersion": "llm-d.ai/v1alpha1",
        "kind": KIND,
        "plugins": [
            *({"type": name} for name in weights),
            {"type": "metrics-data-source", "parameters": source},
            {"type": "core-metrics-extractor"},
        ],
        "schedulingProfiles": [{"name": "default", "plugins": _weighted(weights)}],
    }


def payload_agnostic() -> dict[str, Any]:
    """Sessions and running requests alone, for bodies that no parser reads."""
    weights = {"active-request-scorer": 1, "session-affinity-scorer": 1}
    return {
        "apiVersion": "llm-d.ai/v1alpha1",
        "kind": KIND,
        "plugins": [{"type": "passthrough-parser"}, *({"type": name} for name in weights)],
        "requestHandler": {"parsers": _references("passthrough-parser")},
        "schedulingProfiles": [{"name": "default", "plugins": _weighted(weights)}],
    }


def _estimate(factor: int) -> dict[str, Any]:
    """Tokens by area. A video is sampled at two frames a second, two frames a token step, as Qwen3-VL's processor does."""
    return {
        "image": {"mode": "dynamic", "defaultResolution": dict(HD), "dynamic": {"factor": factor}},
        "video": {
            "defaultResolution": dict(HD),
            "defaultDuration": 10,
            "maxVideoTokens": 12288,
            "tokensPerFrame": {"mode": "dynamic", "dynamic": {"factor": factor}},
            "frames": {
                "mode": "sampled",
                "maxFrames": 768,
                "minFrames": 4,
                "sampled": {"sampleFPS": 2, "temporalPatchSize": 2},
            },
        },
    }


def _references(*names: str) -> list[dict[str, Any]]:
    return [{"pluginRef": name} for name in names]


def _weighted(weights: dict[str, int]) -> list[dict[str, Any]]:
    return [{"pluginRef": name, "weight": weight} for name, weight in weights.items()]
