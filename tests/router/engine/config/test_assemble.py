from router.framework.plugin import Plugin
from tests.support.documents import AGGREGATION, document
from tests.support.engine import load_configuration


def names(plugins: tuple[Plugin, ...]) -> list[str]:
    return [plugin.name for plugin in plugins]


def test_plugins_stand_wherever_they_play_a_role() -> None:
    assembly = load_configuration(AGGREGATION)

    assert names(assembly.producers) == ["token-producer", "approx-prefix-cache-producer", "inflight-load-producer"]
    assert names(assembly.pre_request) == ["approx-prefix-cache-producer", "inflight-load-producer"]
    assert names(assembly.response_body) == ["inflight-load-producer"]
    assert names(assembly.listeners) == ["approx-prefix-cache-producer", "inflight-load-producer", "max-score-picker"]
    assert assembly.header_processors == assembly.screeners == assembly.admitters == assembly.response_headers == ()
    assert assembly.discovery is None
    assert assembly.feature_gates == {"flowControl": False, "haPopulateNonLeaderDatastore": True}


def test_producers_run_in_the_order_their_data_asks_for() -> None:
    backwards = document(plugins=["inflight-load-producer", "approx-prefix-cache-producer", "token-producer", "token-load-scorer"])

    assert names(load_configuration(backwards).producers) == [
        "token-producer",
        "approx-prefix-cache-producer",
        "inflight-load-producer",
    ]


def test_the_cost_of_a_request_needs_no_prefix_producer() -> None:
    assembly = load_configuration(document(plugins=["token-load-scorer"]))

    assert names(assembly.producers) == ["token-producer", "inflight-load-producer"]


def test_discovery_from_a_file() -> None:
    plugins = [{"type": "file-discovery", "parameters": {"path": "/endpoints.yaml"}}]
    assembly = load_configuration(document(plugins=plugins, dataLayer={"discovery": {"pluginRef": "file-discovery"}}))

    assert assembly.discovery is assembly.plugins["file-discovery"]


def test_every_plugin_knows_its_type() -> None:
    text = document(plugins=[{"type": "queue-scorer", "name": "mine"}])

    assert load_configuration(text).plugins["mine"].type_name == "queue-scorer"
