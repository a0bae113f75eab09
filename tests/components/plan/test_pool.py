"""The InferencePool."""

import pytest

from components.plan import pool
from components.plan.names import names
from components.settings.stack import load


@pytest.mark.parametrize("mode", ["FailOpen", "FailClose"])
def test_spec(mode: str) -> None:
    settings = load({"router": {"pool": {"failureMode": mode}}})

    assert pool.spec(settings, names(settings, "1")) == {
        "targetPorts": [{"number": 8000}],
        "appProtocol": "http",
        "selector": {"matchLabels": {"llm-d.ai/guide": "aggregation"}},
        "endpointPickerRef": {"name": "multimodal-serving-epp", "port": {"number": 9002}, "failureMode": mode},
    }
