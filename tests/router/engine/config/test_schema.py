from typing import Any

import pytest
import yaml

from router.engine.config.schema import Document, feature_gates, policy_references, read_document
from router.framework.errors import ConfigError


def read(**document: Any) -> Document:
    return read_document(yaml.safe_dump({"apiVersion": "llm-d.ai/v1", "kind": "EndpointPickerConfig", **document}))


@pytest.mark.parametrize("version", ["llm-d.ai/v1", "llm-d.ai/v1alpha1", "inference.networking.x-k8s.io/v1alpha1"])
def test_all_three_versions(version: str) -> None:
    assert read(apiVersion=version).api_version == version


def test_the_oldest_version_logs_a_line(caplog: pytest.LogCaptureFixture) -> None:
    read(apiVersion="inference.networking.x-k8s.io/v1alpha1")

    assert [record.message for record in caplog.records] == ["deprecated apiVersion"]


@pytest.mark.parametrize(
    ("document", "field", "text"),
    [
        ({"apiVersion": "llm-d.ai/v2"}, "apiVersion", "'llm-d.ai/v1', 'llm-d.ai/v1alpha1'"),
        ({"kind": "Pod"}, "kind", "'EndpointPickerConfig'"),
        ({"metadata": {"name": "x"}}, "metadata", "unknown"),
        ({"plugin": []}, "plugin", 'did you mean "plugins"'),
        ({"plugins": [{"typ": "x"}]}, "plugins[0].typ", 'did you mean "type"'),
        ({"schedulingProfiles": [{"plugins": [{"pluginRef": "x", "weight": "2"}]}]}, "schedulingProfiles[0].plugins[0].weight", "'2'"),
        ({"flowControl": {"maxBytes": -1}}, "flowControl.maxBytes", "negative"),
        ({"flowControl": {"maxBytes": "1GB"}}, "flowControl.maxBytes", "quantity"),
        ({"flowControl": {"priorityBands": [{"priority": 1}, {"priority": 1}]}}, "flowControl.priorityBands", "listed twice"),
        ({"flowControl": {"priorityBands": [{"maxRequests": -1}]}}, "flowControl.priorityBands[0].maxRequests", "negative"),
        ({"flowControl": {"defaultRequestTTL": 60}}, "flowControl.defaultRequestTTL", "duration"),
        ({"dataLayer": {"peerDiscovery": {"pluginRef": "x"}}}, "dataLayer.peerDiscovery", "not built yet"),
        ({"dataLayer": {"crossReplicaSyncerPluginRef": "x"}}, "dataLayer.crossReplica", "not built yet"),
        ({"dataLayer": {"crossReplica": {"syncerPluginRef": "x"}}}, "dataLayer.crossReplica", "not built yet"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_errors_name_the_field(document: dict[str, Any], field: str, text: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read(**document)

    assert raised.value.field == field
    assert text in raised.value.message


def test_deprecated_places_move() -> None:
    document = read(parser={"pluginRef": "p"}, saturationDetector={"pluginRef": "s"})

    assert [each.plugin_ref for each in document.request_handler.parsers] == ["p"]
    assert document.flow_control is not None
    assert document.flow_control.saturation_detector is not None
    assert document.flow_control.saturation_detector.plugin_ref == "s"


def test_present_places_win() -> None:
    document = read(
        parser={"pluginRef": "old"},
        requestHandler={"parsers": [{"pluginRef": "new"}]},
        saturationDetector={"pluginRef": "old"},
        flowControl={"saturationDetector": {"pluginRef": "new"}},
    )

    assert [each.plugin_ref for each in document.request_handler.parsers] == ["new"]
    assert document.flow_control is not None
    assert document.flow_control.saturation_detector is not None
    assert document.flow_control.saturation_detector.plugin_ref == "new"


@pytest.mark.parametrize(
    "layer",
    [{"discovery": {"pluginRef": "f"}}, {"discovery": {"pluginRef": "old", "endpoints": {"pluginRef": "f"}}}],
    ids=["older-shape", "newer-shape-wins"],
)
def test_discovery_in_either_shape(layer: dict[str, Any]) -> None:
    document = read(dataLayer=layer)

    assert document.data_layer.discovery is not None
    assert document.data_layer.discovery.plugin == "f"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], {"flowControl": False, "haPopulateNonLeaderDatastore": True}),
        (["flowControl=false"], {"flowControl": False, "haPopulateNonLeaderDatastore": True}),
        (["haPopulateNonLeaderDatastore=false"], {"flowControl": False, "haPopulateNonLeaderDatastore": False}),
        (["haPopulateNonLeaderDatastore"], {"flowControl": False, "haPopulateNonLeaderDatastore": True}),
    ],
    ids=str,
)
def test_gates(given: list[str], expected: dict[str, bool]) -> None:
    assert feature_gates(read(featureGates=given)) == expected


@pytest.mark.parametrize(
    ("gate", "text"),
    [
        ("flowcontrol", 'did you mean "flowControl"'),
        ("flowControl=yes", "NAME=true"),
        ("flowControl=", "NAME=true"),
        ("flowControl", "not built yet"),
        ("flowControl=true", "not built yet"),
    ],
)
def test_gates_that_cannot_be(gate: str, text: str) -> None:
    with pytest.raises(ConfigError) as raised:
        feature_gates(read(featureGates=[gate]))

    assert text in str(raised.value)


def test_every_policy_reference_is_found() -> None:
    document = read(
        flowControl={
            "defaultNegativePriorityBand": {},
            "priorityBands": [{"priority": 3, "fairnessPolicyRef": "mine"}],
        }
    )

    assert document.flow_control is not None
    references = dict(policy_references(document.flow_control))
    assert references["priorityBands[0].fairnessPolicyRef"] == "mine"
    assert len(references) == 7
