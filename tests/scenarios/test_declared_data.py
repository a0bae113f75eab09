"""A plugin reads and writes only the data keys it declares: the order of plugins and the automatic producers rest on that."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import pytest

from router.framework.attributes.key import DataKey
from router.framework.control import DataProducer, PreRequest, ResponseBody, ResponseProgress, TerminationCause
from router.framework.endpoint import Endpoint, LiveEndpoint
from router.framework.plugin import Entry, Plugin
from router.framework.request import InferenceRequest
from router.framework.scheduling import Filter, Picker, Scorer
from router.payloads.chat import parse_chat
from router.plugins.registry import ENTRIES
from tests.support.engine import inference_request, live_endpoint, result_of
from tests.support.registered import build

T = TypeVar("T")
ROLES = (DataProducer, Filter, Scorer, Picker, PreRequest, ResponseBody)
PAYLOAD = parse_chat(b'{"model":"m","messages":[{"role":"user","content":"hello"}]}')
VARIANTS: list[tuple[Entry, dict[str, str]]] = [
    *((entry, {}) for entry in ENTRIES if isinstance(entry.build, type) and issubclass(entry.build, ROLES)),
    *((entry, {"ttftSource": "latencyPredictor"}) for entry in ENTRIES if entry.type_name == "prefix-cache-affinity-filter"),
]


@dataclass
class Touched:
    """Keys by what was done with them."""

    read: set[DataKey[Any]] = field(default_factory=set[DataKey[Any]])
    written: set[DataKey[Any]] = field(default_factory=set[DataKey[Any]])


class WatchedEndpoint(Endpoint):
    """Notes what is read and written."""

    __slots__ = ("touched",)

    def __init__(self, live: LiveEndpoint, touched: Touched) -> None:
        super().__init__(live)
        self.touched = touched

    def read(self, key: DataKey[T]) -> T | None:
        self.touched.read.add(key)
        return super().read(key)

    def write(self, key: DataKey[T], value: T) -> None:
        self.touched.written.add(key)
        super().write(key, value)


class WatchedAttributes(dict[DataKey[Any], Any]):
    """Request attributes that note what is read and written."""

    def __init__(self, touched: Touched, given: Mapping[DataKey[Any], Any]) -> None:
        super().__init__(given)
        self.touched = touched

    def get(self, key: DataKey[Any], default: Any = None, /) -> Any:
        self.touched.read.add(key)
        return super().get(key, default)

    def __setitem__(self, key: DataKey[Any], value: Any) -> None:
        self.touched.written.add(key)
        super().__setitem__(key, value)


async def play(plugin: Plugin, request: InferenceRequest, endpoints: list[Endpoint]) -> None:
    """Call a plugin in every role it has."""
    result = result_of(default=endpoints[0])
    if isinstance(plugin, DataProducer):
        await plugin.prepare(request, PAYLOAD)
        await plugin.produce(request, endpoints)
    if isinstance(plugin, Filter):
        plugin.filter(request, endpoints)
    if isinstance(plugin, Scorer):
        plugin.score(request, endpoints)
    if isinstance(plugin, Picker):
        plugin.pick(request, dict.fromkeys(endpoints, 1.0))
    if isinstance(plugin, PreRequest):
        await plugin.before_request(request, result)
    if isinstance(plugin, ResponseBody):
        plugin.on_progress(request, result, ResponseProgress(first=True))
        plugin.on_progress(request, result, ResponseProgress(first=False, cause=TerminationCause.NATURAL))


@pytest.mark.parametrize(("entry", "parameters"), [pytest.param(e, p, id="-".join([e.type_name, *p.values()])) for e, p in VARIANTS])
async def test_a_plugin_touches_what_it_declares(entry: Entry, parameters: dict[str, str]) -> None:
    plugin = build(entry, parameters)
    touched = Touched()
    plain = inference_request()
    tokens = build(next(entry for entry in ENTRIES if entry.type_name == "token-producer"))
    assert isinstance(tokens, DataProducer)
    await tokens.prepare(plain, PAYLOAD)
    request = replace(plain, attributes=WatchedAttributes(touched, plain.attributes))

    await play(plugin, request, [WatchedEndpoint(live_endpoint(name), touched) for name in "abc"])

    declared = plugin.consumes()
    assert touched.written <= plugin.produces()
    assert touched.read <= declared.required | declared.optional | plugin.produces()
