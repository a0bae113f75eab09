"""The engine's documents."""

from typing import Any

import yaml

from components.plan import engine_config
from components.settings.models import CATALOGUE, QWEN3_VL_32B
from components.settings.stack import load


def references(document: dict[str, Any]) -> set[str]:
    """Plugin names that profiles and parsers refer to."""
    lists = [profile["plugins"] for profile in document["schedulingProfiles"]] + [document.get("requestHandler", {}).get("parsers", [])]
    return {entry["pluginRef"] for entries in lists for entry in entries}


def test_three_documents_of_which_the_engine_opens_the_topology_s() -> None:
    settings = load({})

    assert set(engine_config.files(settings)) == {"default-plugins.yaml", "payload-agnostic.yaml", "aggregation-plugins.yaml"}
    assert engine_config.path(settings) == "/config/aggregation-plugins.yaml"


def test_every_document_declares_what_it_refers_to() -> None:
    for name, text in engine_config.files(load({})).items():
        document = yaml.safe_load(text)
        assert references(document) <= {plugin["type"] for plugin in document["plugins"]}, name
        assert document["kind"] == "EndpointPickerConfig"


def test_the_aggregated_profile_keeps_prefixes_then_spreads_tokens() -> None:
    document = engine_config.aggregation(CATALOGUE[QWEN3_VL_32B])

    assert [entry["pluginRef"] for entry in document["schedulingProfiles"][0]["plugins"]] == [
        "prefix-cache-affinity-filter",
        "token-load-scorer",
    ]
    affinity = next(plugin for plugin in document["plugins"] if plugin["type"] == "prefix-cache-affinity-filter")
    assert affinity["parameters"] == {"peakPrefillThroughput": 15751, "affinityThreshold": 0.6, "maxTTFTPenaltyMs": 36000}


def test_images_and_video_frames_cost_tokens_by_area() -> None:
    document = engine_config.aggregation(CATALOGUE[QWEN3_VL_32B])
    estimate = document["plugins"][0]["parameters"]["estimate"]

    assert estimate["image"]["dynamic"] == estimate["video"]["tokensPerFrame"]["dynamic"] == {"factor": 1024}
    assert estimate["image"]["defaultResolution"] == {"width": 1280, "height": 720}


def test_a_stack_may_bring_its_own_document() -> None:
    own = {"apiVersion": "llm-d.ai/v1", "kind": "EndpointPickerConfig", "plugins": [{"type": "random-picker"}]}

    files = engine_config.files(load({"router": {"pluginsConfig": own}}))

    assert yaml.safe_load(files["aggregation-plugins.yaml"]) == own


def test_documents_share_no_yaml_anchors() -> None:
    assert not any("&id" in text for text in engine_config.files(load({})).values())
