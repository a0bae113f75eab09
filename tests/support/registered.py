"""Plugins of the registry, each built on its own: a type that needs parameters or other plugins is given them here."""

from collections.abc import Mapping
from random import Random
from typing import Any

from router.framework.compat import Compat
from router.framework.parameters import decode
from router.framework.plugin import Entry, Plugin
from tests.support.engine import FakeClock, make_handle

REQUIRED: dict[str, dict[str, Any]] = {"file-discovery": {"path": "/endpoints.yaml"}}
NOW = 50.0


def build(entry: Entry, parameters: Mapping[str, Any] | None = None, *, compat: Compat | None = None, seed: int = 1) -> Plugin:
    """The plugin of a row, with defaults, what it needs, and `parameters` as a document spells them."""
    decoded = decode(entry.parameters, {**REQUIRED.get(entry.type_name, {}), **(parameters or {})})
    return entry.build(entry.type_name, decoded, make_handle(compat=compat, random=Random(seed), clock=FakeClock(NOW)))
