import os
from pathlib import Path

import pytest
import yaml

from router.engine.config.load import read_text
from router.framework.errors import ConfigError
from tests.support.documents import AGGREGATION, E_P_D, E_PD, document
from tests.support.engine import load_configuration

REFERENCE = Path(os.environ.get("REFERENCE_DIR", Path(__file__).parents[5] / "shared" / "spec"))


def reference_documents(topology: str) -> dict[str, str]:
    """Documents of the reference folder by file name, empty where it is absent."""
    path = REFERENCE / "golden-router" / f"standalone-{topology}.yaml"
    if not path.is_file():
        return {}
    objects = [each for each in yaml.safe_load_all(path.read_text()) if each and each["kind"] == "ConfigMap"]
    return {name: text for each in objects for name, text in each["data"].items() if "EndpointPickerConfig" in text}


@pytest.mark.parametrize(
    ("topology", "name"),
    [
        ("aggregation", "aggregation-plugins.yaml"),
        ("aggregation", "default-plugins.yaml"),
        ("aggregation", "payload-agnostic.yaml"),
        ("e-pd", "e-pd-config.yaml"),
        ("e-pd-sglang", "e-pd-config.yaml"),
        ("e-p-d", "e-p-d-config.yaml"),
    ],
)
def test_documents_of_the_reference_load(topology: str, name: str) -> None:
    documents = reference_documents(topology)
    if not documents:
        pytest.skip("the reference folder is not here")

    assert load_configuration(documents[name], source=name, allow_experimental=True).scheduler.profiles


@pytest.mark.parametrize("text", [E_PD, E_P_D], ids=["e-pd", "e-p-d"])
def test_documents_of_disaggregation_load(text: str) -> None:
    assert "decode" in load_configuration(text).scheduler.profiles


def test_a_document_with_a_plugin_that_is_not_built_is_refused() -> None:
    with pytest.raises(ConfigError) as raised:
        load_configuration(document(["agent-identity"]), source="agents.yaml")

    expected = 'agents.yaml, plugin "agent-identity", field "type": plugin type "agent-identity" is known'
    assert str(raised.value).startswith(expected)


@pytest.mark.parametrize("text", ["", "  \n"])
def test_no_text_is_the_built_in_configuration(text: str) -> None:
    assert "kv-cache-utilization-scorer" in load_configuration(text).plugins


def test_errors_name_the_file() -> None:
    with pytest.raises(ConfigError, match=r"^/config/epp\.yaml, field \"kind\": None is not"):
        load_configuration("a: 1", source="/config/epp.yaml")


def test_json_is_yaml() -> None:
    text = '{"apiVersion": "llm-d.ai/v1", "kind": "EndpointPickerConfig", "plugins": [{"type": "queue-scorer"}]}'

    assert "queue-scorer" in load_configuration(text).plugins


def test_flow_control_without_its_gate_is_kept_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    load_configuration(document(flowControl={"maxBytes": "1G"}))

    assert "flowControl has no effect while its feature gate is off" in [record.message for record in caplog.records]


def test_aggregation() -> None:
    assembly = load_configuration(AGGREGATION)

    assert list(assembly.plugins) == [
        "token-producer",
        "approx-prefix-cache-producer",
        "inflight-load-producer",
        "prefix-cache-affinity-filter",
        "token-load-scorer",
        "max-score-picker",
        "single-profile-handler",
        "fcfs-ordering-policy",
        "global-strict-fairness-policy",
        "static-usage-limit-policy",
        "openai-parser",
        "anthropic-parser",
        "vllmhttp-parser",
        "passthrough-parser",
        "utilization-detector",
        "metrics-data-source",
        "core-metrics-extractor",
    ]


def test_the_text_comes_from_the_file_or_from_the_flag(tmp_path: Path) -> None:
    path = tmp_path / "engine.yaml"
    path.write_text("kind: x", encoding="utf-8")

    assert read_text(str(path), "") == ("kind: x", str(path))
    assert read_text("", "kind: y") == ("kind: y", "--config-text")


@pytest.mark.parametrize("content", [None, b"\xff"], ids=["missing", "no-text"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "engine.yaml"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(ConfigError, match="cannot be read") as refused:
        read_text(str(path), "")
    assert str(path) in str(refused.value)


def test_models_are_polled_and_places_are_read_from_labels() -> None:
    sources = [
        {"pluginRef": "models-data-source", "extractors": [{"pluginRef": "models-data-extractor"}]},
        {"pluginRef": "endpoint-notification-source", "extractors": [{"pluginRef": "topology-extractor"}]},
    ]
    plugins = ["models-data-source", "models-data-extractor", "endpoint-notification-source", "topology-extractor"]

    assembly = load_configuration(document(plugins, dataLayer={"sources": sources}), allow_experimental=True)

    assert [source.name for source, _ in assembly.sources] == ["models-data-source", "metrics-data-source"]
    assert "topology-extractor" in [listener.name for listener in assembly.listeners]


def test_an_attribute_that_nobody_reads_off_endpoints_is_refused() -> None:
    algorithm = {"type": "linear_lower_is_better"}
    scorer = {"type": "endpoint-attribute-scorer", "parameters": {"attributeKey": "depth", "algorithm": algorithm}}

    with pytest.raises(ConfigError, match='needs "depth/core-metrics-extractor", which no configured plugin produces'):
        load_configuration(document([scorer]), allow_experimental=True)


@pytest.mark.parametrize("producer", [None, ""])
def test_an_attribute_of_a_custom_metric_is_found(producer: str | None) -> None:
    metric = {"attributeKey": "depth", "metricSpec": "engine:depth"}
    extractor = {"type": "core-metrics-extractor", "parameters": {"engineConfigs": [{"name": "mine", "customMetrics": [metric]}]}}
    parameters = {"attributeKey": "depth", "producer": producer, "algorithm": {"type": "linear_lower_is_better"}}
    scorer = {"type": "endpoint-attribute-scorer", "parameters": parameters}

    assert "endpoint-attribute-scorer" in load_configuration(document([extractor, scorer]), allow_experimental=True).plugins
