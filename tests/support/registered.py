"""Plugins of the registry, each built on its own: a type that needs parameters or other plugins is given them here."""

from collections.abc import Mapping
from random import Random
from typing import Any

from router.framework.compat import Compat
from router.framework.parameters import decode
from router.framework.plugin import Entry, NoParameters, Plugin
from router.plugins.deciders.always_disagg_pd_decider import AlwaysDisaggPdDecider
from tests.support.engine import FakeClock, make_handle

REQUIRED: dict[str, dict[str, Any]] = {
    "by-label": {"label": "role", "validValues": ["decode"]},
    "endpoint-attribute-filter": {
        "attribute": "depth",
        "algorithm": {"type": "threshold", "threshold": {"operator": "LessThan", "value": 10}},
    },
    "endpoint-attribute-scorer": {"attributeKey": "depth", "algorithm": {"type": "linear_lower_is_better"}},
    "file-discovery": {"path": "/endpoints.yaml"},
    "request-attribute-reporter": {"attributes": [{"key": {"name": "cost"}, "expression": "usage.prompt_tokens"}]},
    "session-id-producer": {"headerName": "x-session-id"},
    "utilization-filter": {"conditions": [{"metric": "active-requests", "maxValue": 3}]},
}
NOW = 50.0
_DECIDER = AlwaysDisaggPdDecider("prefix-based-pd-decider", NoParameters(), make_handle())  # where a handler cannot do without one


def build(entry: Entry, parameters: Mapping[str, Any] | None = None, *, compat: Compat | None = None, seed: int = 1) -> Plugin:
    """The plugin of a row, with defaults, what it needs, and `parameters` as a document spells them."""
    decoded = decode(entry.parameters, {**REQUIRED.get(entry.type_name, {}), **(parameters or {})})
    handle = make_handle(compat=compat, random=Random(seed), clock=FakeClock(NOW), plugins={_DECIDER.name: _DECIDER})
    return entry.build(entry.type_name, decoded, handle)
