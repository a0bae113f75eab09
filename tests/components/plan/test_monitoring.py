"""What Prometheus scrapes."""

from components.plan import monitoring
from components.plan.names import MODEL_SERVER_PORT_NAME, names
from components.plan.topologies import tiers
from components.settings.stack import load


def test_the_engine_is_found_by_the_labels_of_its_service() -> None:
    settings = load({"monitoring": {"enabled": True, "interval": "5s"}})
    called = names(settings, "1")

    found = monitoring.service_monitor(settings, called)

    assert found["selector"]["matchLabels"] == called.common_labels
    assert found["endpoints"] == [{"interval": "5s", "port": "http-metrics", "path": "/metrics"}]
    assert found["namespaceSelector"] == {"matchNames": [settings.namespace.name]}


def test_model_servers_are_found_by_role() -> None:
    settings = load({"monitoring": True})
    (tier,) = tiers(settings)

    found = monitoring.pod_monitor(settings, tier)

    assert found["selector"]["matchLabels"] == monitoring.role_labels(tier) == {"llm-d.ai/role": "decode"}
    assert found["selector"]["matchLabels"].items() <= tier.role_labels.items()
    assert found["podMetricsEndpoints"] == [{"interval": "30s", "path": "/metrics", "port": MODEL_SERVER_PORT_NAME}]
