"""Objects of the Prometheus Operator: who is scraped, where and how often."""

from typing import Any, Final

from components.plan.names import MODEL_SERVER_PORT_NAME, Names
from components.plan.topologies import Tier
from components.settings.stack import StackSettings

API_VERSION: Final = "monitoring.coreos.com/v1"
PATH: Final = "/metrics"


def service_monitor(settings: StackSettings, names: Names) -> dict[str, Any]:
    """Scrapes the engine by its Service."""
    return {
        "endpoints": [{"interval": settings.monitoring.interval, "port": "http-metrics", "path": PATH}],
        "jobLabel": names.endpoint_picker,
        "namespaceSelector": {"matchNames": [names.namespace]},
        "selector": {"matchLabels": names.common_labels},
    }


def pod_monitor(settings: StackSettings, tier: Tier) -> dict[str, Any]:
    """Scrapes the model servers of a role; nothing stands in front of them."""
    endpoint = {"interval": settings.monitoring.model_server_interval, "path": PATH, "port": MODEL_SERVER_PORT_NAME}
    return {"podMetricsEndpoints": [endpoint], "selector": {"matchLabels": role_labels(tier)}}


def role_labels(tier: Tier) -> dict[str, str]:
    """The label by which a role's pods are scraped."""
    return {"llm-d.ai/role": tier.role}
