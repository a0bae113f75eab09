from collections.abc import Mapping
from typing import Any

import pytest

from router.engine.config import data_graph
from router.engine.config.build import Builder, Catalogue
from router.framework.attributes.key import DataKey
from router.framework.attributes.load import inflight_load
from router.framework.attributes.prefix_match import prefix_match
from router.framework.attributes.tokenized_prompt import tokenized_prompt
from router.framework.control import DataProducer, EndpointListener
from router.framework.endpoint import LiveEndpoint
from router.framework.errors import ConfigError
from router.framework.flow import SaturationDetector
from router.framework.plugin import Consumes, Plugin
from router.plugins.registry import ALIASES, ENTRIES, UNBUILT
from tests.support.engine import make_handle

Keys = frozenset[DataKey[Any]]
A, B, C = (DataKey(name, "p", int) for name in "ABC")


class Node(DataProducer):
    def __init__(self, name: str, *, reads: tuple[DataKey[Any], ...] = (), may: tuple[DataKey[Any], ...] = (), writes: Any = ()) -> None:
        super().__init__(name)
        self._reads, self._may, self._writes = frozenset(reads), frozenset(may), frozenset(writes)

    def consumes(self) -> Consumes:
        return Consumes(required=self._reads, optional=self._may)

    def produces(self) -> Keys:
        return self._writes


class Listening(Node, EndpointListener):
    def endpoint_added(self, endpoint: LiveEndpoint) -> None: ...

    def endpoint_removed(self, endpoint: LiveEndpoint) -> None: ...


class Detector(SaturationDetector):
    def consumes(self) -> Consumes:
        return Consumes(required=frozenset({A}))

    def saturation(self, endpoints: Any) -> float:
        return 0


def names(*producers: Node) -> str:
    return "".join(producer.name for producer in data_graph.order(producers))


def test_required_data_comes_first() -> None:
    assert names(Node("1", reads=(B,), writes=(C,)), Node("2", reads=(A,), writes=(B,)), Node("3", writes=(A,))) == "321"


def test_optional_data_comes_first_too() -> None:
    assert names(Node("1", may=(A,)), Node("2", writes=(A,))) == "21"


def test_ties_keep_the_configurations_order() -> None:
    assert names(Node("3"), Node("1"), Node("2")) == "312"


def test_an_optional_circle_is_cut() -> None:
    assert names(Node("1", may=(B,), writes=(A,)), Node("2", reads=(A,), writes=(B,))) == "12"


def test_a_producer_may_read_what_it_writes() -> None:
    assert names(Node("1", reads=(A,), writes=(A,))) == "1"


def test_a_required_circle_is_refused() -> None:
    with pytest.raises(ConfigError, match="circle: 1, 2"):
        data_graph.order([Node("1", reads=(B,), writes=(A,)), Node("2", reads=(A,), writes=(B,))])


def test_types_must_agree() -> None:
    with pytest.raises(ConfigError, match=r'plugin "1": reads "A/p" as str, but "2" writes int'):
        data_graph.check([Node("1", reads=(DataKey("A", "p", str),)), Node("2", writes=(A,))])


def test_what_is_written_later_cannot_be_read() -> None:
    with pytest.raises(ConfigError, match='reads "A/p" in flow control, before "2" writes it in request control'):
        data_graph.check([Detector("1"), Node("2", writes=(A,))])


def test_what_is_written_as_endpoints_come_can_be_read_anywhere() -> None:
    data_graph.check([Detector("1"), Listening("2", writes=(A,))])


def builder(*plugins: Plugin) -> Builder:
    def handle_for(built: Mapping[str, Plugin]) -> Any:
        return make_handle(plugins=built)

    made = Builder(Catalogue(entries={entry.type_name: entry for entry in ENTRIES}, aliases=ALIASES, unbuilt=UNBUILT), handle_for)
    made.plugins.update({plugin.name: plugin for plugin in plugins})
    return made


def test_missing_producers_are_added_until_none_is_missing() -> None:
    made = builder(Node("1", reads=(prefix_match(), inflight_load())))

    data_graph.complete(made)

    assert list(made.plugins) == ["1", "inflight-load-producer", "approx-prefix-cache-producer", "token-producer"]


def test_optional_data_adds_nothing() -> None:
    made = builder(Node("1", may=(prefix_match(),)))

    data_graph.complete(made)

    assert list(made.plugins) == ["1"]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (tokenized_prompt("mine"), "its default producer is token-producer"),
        (A, 'needs "A/p", which no configured plugin produces'),
        (prefix_match("token-producer"), "its default producer is approx-prefix-cache-producer"),
    ],
    ids=["other-name", "no-default", "other-type"],
)
def test_a_producer_that_is_not_the_default_is_not_added(key: DataKey[Any], text: str) -> None:
    with pytest.raises(ConfigError) as raised:
        data_graph.complete(builder(Node("1", reads=(key,))))

    assert text in raised.value.message
    assert raised.value.plugin == "1"


def test_a_default_producer_that_does_not_help_is_not_asked_twice() -> None:
    class Impostor(Plugin): ...

    with pytest.raises(ConfigError, match="needs"):
        data_graph.complete(builder(Node("1", reads=(tokenized_prompt(),)), Impostor("token-producer")))
