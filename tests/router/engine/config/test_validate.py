from typing import Any

import pytest

from router.framework.errors import ConfigError
from tests.support.documents import document
from tests.support.engine import load_configuration

TWO = {"a": ["queue-scorer"], "b": ["queue-scorer"]}


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        pytest.param(
            {"plugins": ["queue-scorer"], "profiles": {"": ["queue-scorer"]}},
            'field "schedulingProfiles[0].name": required',
            id="profile-without-name",
        ),
        pytest.param(
            {"plugins": ["queue-scorer"], "profiles": {"a": [{"weight": 1}]}},
            'field "schedulingProfiles["a"].plugins[0].pluginRef": required',
            id="entry-without-reference",
        ),
        pytest.param(
            {"plugins": ["queue-scorer"], "profiles": {"a": ["queue-scoer"]}},
            'names plugin "queue-scoer", which is not configured; did you mean "queue-scorer"?',
            id="unknown-reference",
        ),
        pytest.param(
            {"plugins": ["single-profile-handler", {"type": "single-profile-handler", "name": "other"}]},
            "more than one profile handler: single-profile-handler, other",
            id="two-handlers",
        ),
        pytest.param({"plugins": ["queue-scorer"], "profiles": TWO}, "2 profiles need a profile handler", id="no-handler"),
        pytest.param(
            {"plugins": ["queue-scorer", "single-profile-handler"], "profiles": TWO},
            'plugin "single-profile-handler": runs one profile, but 2 are configured',
            id="single-handler-two-profiles",
        ),
        pytest.param(
            {"plugins": ["random-picker", "max-score-picker"], "profiles": {"a": ["random-picker", "max-score-picker"]}},
            "two pickers in one profile: random-picker, max-score-picker",
            id="two-pickers",
        ),
        pytest.param(
            {"plugins": ["openai-parser"], "profiles": {"a": ["openai-parser"]}},
            "is not a filter, scorer or picker",
            id="parser-in-a-profile",
        ),
        pytest.param(
            {"plugins": ["queue-scorer"], "requestHandler": {"parsers": [{"pluginRef": "queue-scorer"}]}},
            'field "requestHandler.parsers[0].pluginRef": "queue-scorer" (type queue-scorer) is not a parser',
            id="scorer-as-parser",
        ),
        pytest.param(
            {"requestHandler": {"parsers": [{"pluginRef": ""}]}},
            'field "requestHandler.parsers[0].pluginRef": required',
            id="empty-parser",
        ),
        pytest.param(
            {"saturationDetector": {"pluginRef": ""}},
            'field "flowControl.saturationDetector.pluginRef": required',
            id="empty-detector",
        ),
        pytest.param(
            {"plugins": ["queue-scorer"], "saturationDetector": {"pluginRef": "queue-scorer"}},
            "is not a saturation detector",
            id="scorer-as-detector",
        ),
        pytest.param({"saturationDetector": {"pluginRef": "ghost"}}, 'names plugin "ghost"', id="unknown-detector"),
        pytest.param(
            {"flowControl": {"usageLimitPolicyPluginRef": "ghost"}},
            'field "flowControl.usageLimitPolicyPluginRef": names plugin "ghost"',
            id="unknown-usage-limit",
        ),
        pytest.param(
            {"flowControl": {"priorityBands": [{"priority": 1, "fairnessPolicyRef": "fcfs-ordering-policy"}]}},
            'field "flowControl.priorityBands[0].fairnessPolicyRef": "fcfs-ordering-policy" (type fcfs-ordering-policy) is not a fairness',
            id="ordering-as-fairness",
        ),
        pytest.param(
            {"flowControl": {"defaultPriorityBand": {"orderingPolicyRef": "edf-ordering-policy"}}},
            "known but not built yet",
            id="unbuilt-policy",
        ),
        pytest.param(
            {"dataLayer": {"sources": [{"pluginRef": "ghost"}]}}, 'field "dataLayer.sources[0].pluginRef": names', id="unknown-source"
        ),
        pytest.param(
            {"plugins": ["queue-scorer"], "dataLayer": {"sources": [{"pluginRef": "queue-scorer"}]}},
            "is not a data source",
            id="scorer-as-source",
        ),
        pytest.param(
            {
                "plugins": ["metrics-data-source", "queue-scorer"],
                "dataLayer": {"sources": [{"pluginRef": "metrics-data-source", "extractors": [{"pluginRef": "queue-scorer"}]}]},
            },
            'field "dataLayer.sources[0].extractors[0].pluginRef": "queue-scorer" (type queue-scorer) is not an extractor',
            id="scorer-as-extractor",
        ),
        pytest.param(
            {
                "plugins": ["endpoint-notification-source", "core-metrics-extractor"],
                "dataLayer": {
                    "sources": [{"pluginRef": "endpoint-notification-source", "extractors": [{"pluginRef": "core-metrics-extractor"}]}]
                },
            },
            "is not an endpoint listener",
            id="extractor-of-another-payload",
        ),
        pytest.param(
            {"dataLayer": {"discovery": {"pluginRef": "ghost"}}},
            'field "dataLayer.discovery.pluginRef": names plugin "ghost"',
            id="unknown-discovery",
        ),
    ],
)
def test_refuses(parts: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load_configuration(document(**parts), source="epp.yaml")

    assert str(raised.value).startswith("epp.yaml")
    assert text in str(raised.value)


def test_two_profiles_of_one_name() -> None:
    text = document(plugins=["queue-scorer"], schedulingProfiles=[{"name": "a"}, {"name": "a"}])

    with pytest.raises(ConfigError, match='two profiles are named "a"'):
        load_configuration(text)


def test_a_producer_in_a_profile_has_no_effect(caplog: pytest.LogCaptureFixture) -> None:
    assembly = load_configuration(document(plugins=["token-producer", "queue-scorer"], profiles={"a": ["token-producer", "queue-scorer"]}))

    assert [plugin.name for plugin in assembly.scheduler.profiles["a"].plugins()] == ["queue-scorer", "max-score-picker"]
    assert "plugin has no effect in a profile" in [record.message for record in caplog.records]
