from typing import Any

import pytest

from router.engine.config import defaults
from router.engine.config.assemble import Assembly
from router.framework.errors import ConfigError
from router.framework.scheduling import Picker
from tests.support.documents import document
from tests.support.engine import load_configuration


def load(**parts: Any) -> Assembly:
    return load_configuration(document(**parts))


def profile(assembly: Assembly, name: str = "default") -> list[str]:
    return [plugin.name for plugin in assembly.scheduler.profiles[name].plugins()]


def weights(assembly: Assembly, name: str = "default") -> dict[str, float]:
    return {each.scorer.name: each.weight for each in assembly.scheduler.profiles[name].scorers}


def test_no_configuration_at_all() -> None:
    assembly = load_configuration("")

    assert weights(assembly) == {"queue-scorer": 2, "kv-cache-utilization-scorer": 2, "prefix-cache-scorer": 3}
    assert profile(assembly)[-1] == "max-score-picker"
    assert [producer.name for producer in assembly.producers] == ["token-producer", "approx-prefix-cache-producer"]


def test_without_profiles_one_holds_everything_that_can_be_in_one() -> None:
    assembly = load(plugins=["token-producer", "queue-scorer", "prefix-cache-affinity-filter", "random-picker"])

    assert list(assembly.scheduler.profiles) == ["default"]
    assert profile(assembly) == ["prefix-cache-affinity-filter", "queue-scorer", "random-picker"]
    assert weights(assembly) == {"queue-scorer": 1.0}


def test_a_single_profile_gets_its_handler() -> None:
    assert load(plugins=["queue-scorer"]).scheduler.handler.name == "single-profile-handler"


def test_a_profile_without_picker_gets_the_first_configured_one() -> None:
    assembly = load(plugins=["random-picker", "max-score-picker", "queue-scorer"], profiles={"default": ["queue-scorer"]})

    assert profile(assembly) == ["queue-scorer", "random-picker"]


def test_a_profile_without_picker_gets_a_new_one_where_none_is_configured() -> None:
    assembly = load(plugins=["queue-scorer"], profiles={"default": ["queue-scorer"]})

    assert isinstance(assembly.plugins["max-score-picker"], Picker)
    assert profile(assembly) == ["queue-scorer", "max-score-picker"]


def test_unset_weights_are_one_and_zero_stays() -> None:
    profiles = {"default": ["queue-scorer", {"pluginRef": "load-aware-scorer", "weight": 0}]}
    assembly = load(plugins=["queue-scorer", "load-aware-scorer"], profiles=profiles)

    assert weights(assembly) == {"queue-scorer": 1.0, "load-aware-scorer": 0}


def test_policies_are_always_there() -> None:
    assert set(defaults.POLICIES) <= set(load(plugins=["queue-scorer"]).plugins)


def test_the_saturation_detector() -> None:
    assert load().saturation_detector.name == "utilization-detector"


@pytest.mark.parametrize("part", ["saturationDetector", "flowControl"])
def test_another_saturation_detector(part: str) -> None:
    reference = {"pluginRef": "mine"}
    more = {part: {"saturationDetector": reference} if part == "flowControl" else reference}

    assembly = load(plugins=[{"type": "utilization-detector", "name": "mine"}, "queue-scorer"], profiles={"d": ["queue-scorer"]}, **more)

    assert assembly.saturation_detector.name == "mine"


def test_default_parsers() -> None:
    assert [parser.name for parser in load().parsers] == ["openai-parser", "anthropic-parser", "vllmhttp-parser", "passthrough-parser"]


def test_a_parser_is_made_from_its_type() -> None:
    assembly = load(requestHandler={"parsers": [{"pluginRef": "passthrough-parser"}]})

    assert [parser.name for parser in assembly.parsers] == ["passthrough-parser"]


def test_a_parser_that_is_not_built_is_refused() -> None:
    with pytest.raises(ConfigError, match='"predicted-latency-producer" is known but not built yet'):
        load(requestHandler={"parsers": [{"pluginRef": "predicted-latency-producer"}]})


def test_metrics_are_scraped_by_default() -> None:
    ((source, extractors),) = load().sources

    assert (source.name, [each.name for each in extractors]) == ("metrics-data-source", ["core-metrics-extractor"])


def test_nothing_is_scraped_when_not_wanted() -> None:
    assert load(dataLayer={"injectDefaults": False}).sources == ()


def test_a_listed_metrics_source_is_not_added_again() -> None:
    layer = {"sources": [{"pluginRef": "metrics-data-source", "extractors": [{"pluginRef": "mine"}]}]}
    plugins = ["metrics-data-source", {"type": "core-metrics-extractor", "name": "mine"}]

    ((_, extractors),) = load(plugins=plugins, dataLayer=layer).sources

    assert [each.name for each in extractors] == ["mine"]


def test_the_notification_source_needs_nothing() -> None:
    layer = {"sources": [{"pluginRef": "endpoint-notification-source", "extractors": [{"pluginRef": "inflight-load-producer"}]}]}

    assembly = load(plugins=["endpoint-notification-source", "inflight-load-producer", "queue-scorer"], dataLayer=layer)

    assert [source.name for source, _ in assembly.sources] == ["metrics-data-source"]
