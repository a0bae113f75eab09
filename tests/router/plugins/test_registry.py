"""What every registered plugin owes the engine, whatever it does."""

import dataclasses
import inspect
import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from router.framework.attributes.encoder_match import EncoderMatch, encoder_match
from router.framework.attributes.load import InflightLoad, UncachedTokens, inflight_load, uncached_tokens
from router.framework.attributes.prefix_match import PrefixMatch, prefix_match
from router.framework.compat import Compat
from router.framework.control import DataProducer, PreRequest, ResponseBody, ResponseProgress, TerminationCause
from router.framework.endpoint import Endpoint
from router.framework.errors import ConfigError
from router.framework.flow import SaturationDetector
from router.framework.parameters import decode, spelling
from router.framework.plugin import Entry
from router.framework.scheduling import Filter, Picker, Scorer
from router.payloads.completions import parse_completions
from router.plugins import registry
from router.plugins.registry import ALIASES, ENTRIES, UNBUILT
from router.wire import ROLE_LABEL
from tests.support.engine import candidate, candidates, inference_request, result_of
from tests.support.registered import NOW, REQUIRED, build

R = TypeVar("R")
FOLDER = Path(registry.__file__).parent


def members(role: type[R]) -> list[R]:
    return [plugin for entry in ENTRIES if isinstance(plugin := build(entry), role)]


def named(plugins: Sequence[Any]) -> list[Any]:
    return [pytest.param(plugin, id=plugin.name) for plugin in plugins]


EVERY = [pytest.param(entry, id=entry.type_name) for entry in ENTRIES]


def renames(entry: Entry) -> bool:
    """Whether a row is an older name of another row's type, built by the same class."""
    return any(entry.build is other.build and entry.replaced_by == other.type_name for other in ENTRIES)


def test_type_names_differ() -> None:
    names = [entry.type_name for entry in ENTRIES]

    assert len(names) == len(set(names))
    assert not set(names) & UNBUILT
    assert not set(ALIASES) & (set(names) | UNBUILT)
    assert set(ALIASES.values()) <= set(names)


def test_every_plugin_file_has_a_row() -> None:
    files = {path.stem.replace("_", "-") for path in FOLDER.glob("*/*.py") if path.stem != "__init__"}

    assert files == {entry.type_name for entry in ENTRIES if not renames(entry)}


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.type_name) for entry in ENTRIES if not renames(entry)])
def test_type_file_and_class_follow_from_each_other(entry: Entry) -> None:
    words = entry.type_name.split("-")
    module = inspect.getmodule(entry.build)

    assert module is not None
    assert module.__name__.rpartition(".")[2] == "_".join(words)
    assert getattr(entry.build, "__name__", "") == "".join(string.capwords(word) for word in words)
    assert vars(module)["TYPE"] == entry.type_name


@pytest.mark.parametrize("entry", EVERY)
def test_unknown_parameters_are_refused(entry: Entry) -> None:
    with pytest.raises(ConfigError, match="unknown") as raised:
        decode(entry.parameters, {**REQUIRED.get(entry.type_name, {}), "noSuchParameter": 1})

    assert raised.value.field == "noSuchParameter"


@pytest.mark.parametrize("entry", EVERY)
def test_parameters_are_frozen_and_can_be_left_out(entry: Entry) -> None:
    parameters = decode(entry.parameters, REQUIRED.get(entry.type_name))

    assert dataclasses.is_dataclass(parameters)
    with pytest.raises((dataclasses.FrozenInstanceError, TypeError, AttributeError)):
        parameters.anything = 1  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("entry", EVERY)
def test_parameter_names_are_camel_case(entry: Entry) -> None:
    for field in dataclasses.fields(entry.parameters):
        name = spelling(field)
        assert name.isalnum()
        assert name[0].islower()


@pytest.mark.parametrize("entry", EVERY)
@pytest.mark.parametrize("compat", [Compat(), Compat(reference=True)], ids=["ours", "reference"])
def test_construction_starts_nothing_and_state_is_small(entry: Entry, compat: Compat) -> None:
    plugin = build(entry, compat=compat)

    assert plugin.name == entry.type_name
    assert plugin.ready()
    assert len(repr(plugin.debug_state())) < 500


LABELS: tuple[str, ...] = (ROLE_LABEL, "llm-d.ai/context-length-range")
LABEL_VALUES: tuple[str, ...] = ("decode", "prefill", "encode", "both", "", "0-10", "0-100000", "7-7", "10-0", "500-1000")


@st.composite
def endpoints(draw: st.DrawFn) -> list[Endpoint]:
    """Endpoints with any metrics, and with any of the attributes."""
    found: list[Endpoint] = []
    for name in draw(st.lists(st.sampled_from("abcdef"), max_size=6, unique=True)):
        endpoint = candidate(
            name,
            waiting_requests=draw(st.integers(0, 300)),
            running_requests=draw(st.integers(0, 300)),
            kv_cache_usage=draw(st.floats(0, 1)),
            updated_at=draw(st.sampled_from([None, NOW, NOW - 10])),
            running_adapters=draw(st.frozensets(st.sampled_from("mnop"))),
            waiting_adapters=draw(st.frozensets(st.sampled_from("mnop"))),
            max_adapters=draw(st.integers(0, 4)),
            labels=draw(st.dictionaries(st.sampled_from(LABELS), st.sampled_from(LABEL_VALUES))),
        )
        if draw(st.booleans()):
            load = InflightLoad(requests=draw(st.integers(0, 50)), tokens=draw(st.integers(0, 10_000_000)))
            endpoint.live.attributes[inflight_load()] = load
        if draw(st.booleans()):
            endpoint.write(uncached_tokens(), UncachedTokens(tokens=draw(st.integers(0, 10_000_000))))
        if draw(st.booleans()):
            total = draw(st.integers(0, 3000))
            match = PrefixMatch(matched_blocks=draw(st.integers(0, total)), total_blocks=total, block_size_tokens=64)
            endpoint.write(prefix_match(), match)
        if draw(st.booleans()):
            size = draw(st.integers(0, 9))
            endpoint.write(encoder_match(), EncoderMatch(matched_size=draw(st.integers(0, size)), request_size=size))
        found.append(endpoint)
    return found


@pytest.mark.parametrize("scorer", named(members(Scorer)))
@settings(max_examples=30)
@given(pool=endpoints())
def test_scores_stay_in_the_unit_interval(scorer: Scorer, pool: list[Endpoint]) -> None:
    scores = scorer.score(inference_request(), pool)

    assert set(scores) <= set(pool)
    assert all(0 <= score <= 1 for score in scores.values())


@pytest.mark.parametrize("plugin", named(members(Filter)))
@settings(max_examples=30)
@given(pool=endpoints())
def test_filters_return_a_subset_in_order(plugin: Filter, pool: list[Endpoint]) -> None:
    kept = list(plugin.filter(inference_request(), pool))

    assert kept == [endpoint for endpoint in pool if endpoint in kept]


@pytest.mark.parametrize("picker", named(members(Picker)))
@settings(max_examples=30)
@given(pool=endpoints().filter(bool), data=st.data())
def test_pickers_pick_from_what_they_are_given(picker: Picker, pool: list[Endpoint], data: st.DataObject) -> None:
    scores = {endpoint: data.draw(st.floats(0, 10)) for endpoint in pool}

    picked = picker.pick(inference_request(), scores)

    assert len(picked) == 1
    assert picked[0] in pool


@pytest.mark.parametrize("detector", named(members(SaturationDetector)))
@settings(max_examples=30)
@given(pool=endpoints())
def test_saturation_is_never_negative(detector: SaturationDetector, pool: list[Endpoint]) -> None:
    assert detector.saturation(pool) >= 0


@pytest.mark.parametrize("entry", EVERY)
async def test_endpoints_without_attributes_are_accepted(entry: Entry) -> None:
    plugin, request, pool = build(entry), inference_request(), candidates("a", "b")
    if isinstance(plugin, DataProducer):
        await plugin.prepare(request, parse_completions(b'{"model":"m","prompt":"hello"}'))
        await plugin.produce(request, pool)
    if isinstance(plugin, Filter):
        assert set(plugin.filter(request, pool)) <= set(pool)
    if isinstance(plugin, Scorer):
        assert all(0 <= score <= 1 for score in plugin.score(request, pool).values())
    if isinstance(plugin, Picker):
        assert plugin.pick(request, dict.fromkeys(pool, 0.0))[0] in pool
    result = result_of(default=pool[0])
    if isinstance(plugin, PreRequest):
        await plugin.before_request(request, result)
    if isinstance(plugin, ResponseBody):
        plugin.on_progress(request, result, ResponseProgress(first=True, cause=TerminationCause.NATURAL))
