from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

import pytest

from router.framework.errors import ConfigError
from router.framework.parameters import Duration, Quantity, decode, plugin_reference, plugin_references, show, spelled, spelling


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    path: str
    level: int = 0

    def __post_init__(self) -> None:
        if self.level < 0:
            raise ConfigError(f"{self.level} is negative", field="level")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    queue_threshold_tokens: int = 7
    max_ttft_penalty_ms: float = spelled("maxTTFTPenaltyMs", 1.5)
    enabled: bool = False
    name: str = ""
    mode: Literal["a", "b"] = "a"
    colour: Colour = Colour.RED
    wait: Duration = 60.0
    limit: Quantity = 0
    most: int | None = None
    inner: Inner | None = None
    inners: tuple[Inner, ...] = ()
    labels: Mapping[str, int] = field(default_factory=dict[str, int])
    anything: Any = None
    decider: str = plugin_reference()


@pytest.mark.parametrize("given", [None, {}, {"queueThresholdTokens": None, "inner": None}], ids=str)
def test_unset_is_the_default(given: dict[str, Any] | None) -> None:
    assert decode(Sample, given) == Sample()


def test_every_kind_of_value() -> None:
    decoded = decode(
        Sample,
        {
            "queueThresholdTokens": 9,
            "maxTTFTPenaltyMs": 3,
            "enabled": True,
            "name": "x",
            "mode": "b",
            "colour": "blue",
            "wait": "1m30s",
            "limit": "1Ki",
            "most": 4,
            "inner": {"path": "/a", "level": 2},
            "inners": [{"path": "/b"}],
            "labels": {"k": 1},
            "anything": {"free": ["form"]},
        },
    )

    assert decoded == Sample(
        queue_threshold_tokens=9,
        max_ttft_penalty_ms=3.0,
        enabled=True,
        name="x",
        mode="b",
        colour=Colour.BLUE,
        wait=90.0,
        limit=1024,
        most=4,
        inner=Inner(path="/a", level=2),
        inners=(Inner(path="/b"),),
        labels={"k": 1},
        anything={"free": ["form"]},
    )
    assert isinstance(decoded.max_ttft_penalty_ms, float)


def test_names_match_ignoring_case() -> None:
    assert decode(Sample, {"MAXttftPENALTYms": 2}).max_ttft_penalty_ms == 2


def test_two_spellings_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="given twice"):
        decode(Sample, {"enabled": True, "Enabled": False})


@pytest.mark.parametrize(
    ("given", "place", "text"),
    [
        ({"queueThresholdToken": 1}, "queueThresholdToken", 'unknown; did you mean "queueThresholdTokens"?'),
        ({"zzz": 1}, "zzz", "unknown; known: anything, colour, decider"),
        ({7: 1}, "7", "unknown"),
        ({"queueThresholdTokens": "9"}, "queueThresholdTokens", "'9' is not a whole number"),
        ({"queueThresholdTokens": True}, "queueThresholdTokens", "True is not a whole number"),
        ({"queueThresholdTokens": 1.5}, "queueThresholdTokens", "1.5 is not a whole number"),
        ({"maxTTFTPenaltyMs": "x"}, "maxTTFTPenaltyMs", "'x' is not a number"),
        ({"maxTTFTPenaltyMs": float("nan")}, "maxTTFTPenaltyMs", "nan is not a number"),
        ({"maxTTFTPenaltyMs": float("inf")}, "maxTTFTPenaltyMs", "inf is not a number"),
        ({"enabled": "true"}, "enabled", "'true' is not true or false"),
        ({"name": 5}, "name", "5 is not a text"),
        ({"mode": "c"}, "mode", "'c' is not one of 'a', 'b'"),
        ({"mode": ["a"]}, "mode", "['a'] is not one of 'a', 'b'"),
        ({"colour": "green"}, "colour", "'green' is not one of 'red', 'blue'"),
        ({"wait": "60"}, "wait", "'60' is not a duration"),
        ({"wait": 60}, "wait", "60 is not a duration"),
        ({"limit": "1GB"}, "limit", "'1GB' is not a quantity"),
        ({"limit": 1.5}, "limit", "1.5 is not a quantity"),
        ({"limit": True}, "limit", "True is not a quantity"),
        ({"inner": {}}, "inner.path", "required, but not given"),
        ({"inner": {"path": "/a", "level": -1}}, "inner.level", "-1 is negative"),
        ({"inner": {"path": "/a", "depth": 1}}, "inner.depth", "unknown"),
        ({"inner": 5}, "inner", "give a mapping"),
        ({"inners": {}}, "inners", "{} is not a list"),
        ({"inners": [{"path": "/a"}, {"path": 1}]}, "inners[1].path", "1 is not a text"),
        ({"labels": []}, "labels", "[] is not a mapping"),
        ({"labels": {"k": "v"}}, "labels.k", "'v' is not a whole number"),
    ],
    ids=str,
)
def test_errors_name_the_field_the_value_and_what_is_allowed(given: dict[Any, Any], place: str, text: str) -> None:
    with pytest.raises(ConfigError) as raised:
        decode(Sample, given)

    assert raised.value.field == place
    assert text in raised.value.message


@pytest.mark.parametrize("given", [[], "text", 5], ids=str)
def test_only_a_mapping_can_be_decoded(given: Any) -> None:
    with pytest.raises(ConfigError, match="give a mapping"):
        decode(Sample, given)


def test_spelling() -> None:
    names = {spelling(each) for each in Sample.__dataclass_fields__.values()}

    assert {"queueThresholdTokens", "maxTTFTPenaltyMs", "name"} <= names


@dataclass(frozen=True, slots=True, kw_only=True)
class Nested:
    prefill: str = plugin_reference()
    deciders: Sample = field(default_factory=Sample)


def test_references_are_found_at_any_depth() -> None:
    assert plugin_references(Nested(prefill="p", deciders=Sample(decider="d"))) == ("p", "d")
    assert plugin_references(Nested()) == ()


def test_long_values_are_cut() -> None:
    assert len(show("x" * 1000)) == 80
