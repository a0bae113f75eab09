"""The InferencePool: which pods answer, and which engine chooses among them."""

from typing import Any, Final

from components.plan.names import EXT_PROC_PORT, MODEL_SERVER_PORT, Names
from components.plan.topologies import pod_selector
from components.settings.stack import StackSettings

API_VERSION: Final = "inference.networking.k8s.io/v1"
KIND: Final = "InferencePool"


def spec(settings: StackSettings, names: Names) -> dict[str, Any]:
    """The pool's spec, in the API's own spelling since custom resources are sent as they are."""
    return {
        "targetPorts": [{"number": MODEL_SERVER_PORT}],
        "appProtocol": "http",
        "selector": {"matchLabels": pod_selector(settings)},
        "endpointPickerRef": {
            "name": names.endpoint_picker,
            "port": {"number": EXT_PROC_PORT},
            "failureMode": settings.router.pool.failure_mode,
        },
    }
