from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from router.engine.config.build import Builder, Catalogue
from router.engine.config.schema import PluginSpec
from router.framework.errors import ConfigError
from router.framework.parameters import plugin_reference
from router.framework.plugin import Entry, Handle, Plugin, Stability
from tests.support.engine import make_handle


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    level: int = 0
    friend: str = plugin_reference()


class Sample(Plugin):
    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        if parameters.level > 9:
            raise ConfigError(f"{parameters.level} is above 9", field="level")
        self.friend = handle.plugin(parameters.friend) if parameters.friend else None


ENTRIES = {
    "sample": Entry(type_name="sample", build=Sample, parameters=Parameters),
    "risky": Entry(type_name="risky", build=Sample, parameters=Parameters, stability=Stability.ALPHA),
    "old": Entry(type_name="old", build=Sample, parameters=Parameters, stability=Stability.DEPRECATED, replaced_by="sample"),
}


def build(*specs: dict[str, Any], allow_experimental: bool = False) -> Builder:
    catalogue = Catalogue(
        entries=ENTRIES, aliases={"specimen": "sample"}, unbuilt=frozenset({"someday"}), allow_experimental=allow_experimental
    )

    def handle_for(plugins: Mapping[str, Plugin]) -> Handle:
        return make_handle(plugins=plugins)

    builder = Builder(catalogue, handle_for)
    builder.build_all([PluginSpec(**spec) for spec in specs])
    return builder


def friends(builder: Builder) -> dict[str, str | None]:
    return {name: plugin.friend.name if isinstance(plugin, Sample) and plugin.friend else None for name, plugin in builder.plugins.items()}


def test_the_name_is_the_type_unless_given() -> None:
    builder = build({"type": "sample"}, {"type": "sample", "name": "b"})

    assert {name: plugin.type_name for name, plugin in builder.plugins.items()} == {"sample": "sample", "b": "sample"}


def test_plugins_named_in_parameters_come_first_but_the_order_stays() -> None:
    builder = build({"type": "sample", "name": "a", "parameters": {"friend": "b"}}, {"type": "sample", "name": "b"})

    assert friends(builder) == {"a": "b", "b": None}


@pytest.mark.parametrize(
    ("specs", "text"),
    [
        ([{}], 'field "plugins[0].type": required'),
        ([{"type": "sample"}, {"type": "sample"}], 'plugin "sample", field "name": two plugins have this name'),
        ([{"type": "smaple"}], 'plugin "smaple", field "type": plugin type "smaple" is unknown; did you mean "sample"?'),
        ([{"type": "someday"}], 'plugin type "someday" is known but not built yet'),
        ([{"type": "risky"}], "--allow-experimental-plugins"),
        ([{"type": "sample", "parameters": {"levle": 1}}], 'plugin "sample", field "parameters.levle": unknown; did you mean "level"?'),
        ([{"type": "sample", "parameters": {"level": "x"}}], "field \"parameters.level\": 'x' is not a whole number"),
        ([{"type": "sample", "parameters": {"level": 10}}], 'field "parameters.level": 10 is above 9'),
        ([{"type": "sample", "parameters": [1]}], 'field "parameters": [1] is not allowed here'),
        ([{"type": "sample", "parameters": {"friend": "ghost"}}], 'depends on unknown plugin "ghost"'),
        (
            [
                {"type": "sample", "name": "a", "parameters": {"friend": "b"}},
                {"type": "sample", "name": "b", "parameters": {"friend": "a"}},
            ],
            "circle: a → b → a",
        ),
    ],
    ids=["no-type", "same-name", "typo", "unbuilt", "alpha", "parameter", "value", "check", "list", "ghost", "circle"],
)
def test_refuses(specs: Sequence[dict[str, Any]], text: str) -> None:
    with pytest.raises(ConfigError) as raised:
        build(*specs)

    assert text in str(raised.value)


def test_experimental_plugins_can_be_allowed() -> None:
    assert list(build({"type": "risky"}, allow_experimental=True).plugins) == ["risky"]


def test_deprecated_types_log_a_line(caplog: pytest.LogCaptureFixture) -> None:
    build({"type": "old"}, {"type": "specimen"})

    assert [record.message for record in caplog.records] == ["deprecated plugin type"] * 2


def test_a_plugin_of_an_old_type_is_found_under_either_name() -> None:
    builder = build({"type": "specimen"})

    assert list(builder.plugins) == ["sample"]
    assert builder.find("specimen", field="f") is builder.find("sample", field="f")


def test_a_name_given_to_an_old_type_stays() -> None:
    assert list(build({"type": "specimen", "name": "mine"}).plugins) == ["mine"]


@pytest.mark.parametrize(("reference", "text"), [("", "required"), ("samlpe", 'did you mean "sample"')])
def test_a_reference_to_nothing(reference: str, text: str) -> None:
    with pytest.raises(ConfigError) as raised:
        build({"type": "sample"}).find(reference, field="here")

    assert raised.value.field == "here"
    assert text in raised.value.message


def test_a_type_can_be_built_by_reference_where_that_is_allowed() -> None:
    builder = build()

    assert builder.find("sample", field="f", automatic=True).name == "sample"
    with pytest.raises(ConfigError, match="not built yet"):
        builder.find("someday", field="f", automatic=True)


def test_a_name_taken_by_another_type_is_refused() -> None:
    with pytest.raises(ConfigError, match="is needed for a plugin of that type"):
        build({"type": "old", "name": "sample"}).ensure("sample")
