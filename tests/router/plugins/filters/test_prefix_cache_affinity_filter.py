from dataclasses import dataclass
from typing import Any

import pytest

from router.framework.attributes.latency import LatencyPrediction, latency_prediction
from router.framework.attributes.load import InflightLoad, inflight_load
from router.framework.attributes.prefix_match import PrefixMatch, prefix_match
from router.framework.endpoint import Endpoint
from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.plugins.filters.prefix_cache_affinity_filter import TYPE, Parameters, PrefixCacheAffinityFilter
from tests.support.engine import candidate, inference_request, make_handle, names_of

GUIDE = {"affinityThreshold": 0.6, "peakPrefillThroughput": 15751, "maxTTFTPenaltyMs": 36000}


@dataclass
class At:
    """An endpoint of a case: blocks matched of total, tokens in flight, predicted time to first token."""

    matched: int
    total: int = 100
    tokens: int | None = None
    ttft: float | None = None

    def endpoint(self, name: str) -> Endpoint:
        endpoint = candidate(name)
        endpoint.write(prefix_match(), PrefixMatch(matched_blocks=self.matched, total_blocks=self.total, block_size_tokens=64))
        if self.tokens is not None:
            endpoint.live.attributes[inflight_load()] = InflightLoad(tokens=self.tokens)
        if self.ttft is not None:
            endpoint.write(latency_prediction(), LatencyPrediction(ttft_ms=self.ttft, tpot_ms=1))
        return endpoint


def kept(parameters: dict[str, Any], endpoints: list[Endpoint]) -> list[str]:
    plugin = PrefixCacheAffinityFilter(TYPE, decode(Parameters, parameters), make_handle())
    return names_of(plugin.filter(inference_request(), endpoints))


def gate(penalty: float, peak: float = 1000) -> dict[str, Any]:
    return {"affinityThreshold": 0.8, "maxTTFTPenaltyMs": penalty, "peakPrefillThroughput": peak}


def predicted(penalty: float) -> dict[str, Any]:
    return {"affinityThreshold": 0.8, "maxTTFTPenaltyMs": penalty, "ttftSource": "latencyPredictor"}


@pytest.mark.parametrize(
    ("parameters", "endpoints", "expected"),
    [
        pytest.param({"affinityThreshold": 0}, [At(0), At(90)], "ab", id="G01"),
        pytest.param({"affinityThreshold": 0.80}, [At(90)], "a", id="G02"),
        pytest.param({"affinityThreshold": 0.80}, [At(10), At(20), At(50)], "abc", id="G03"),
        pytest.param(predicted(5000), [At(90, ttft=100), At(85, ttft=120), At(10, ttft=50)], "ab", id="G04"),
        pytest.param(predicted(100), [At(90, ttft=500), At(10, ttft=50)], "ab", id="G05"),
        pytest.param(gate(100), [At(90, tokens=500), At(10, tokens=50)], "ab", id="G06"),
        pytest.param(gate(1000), [At(90, tokens=500), At(10, tokens=50)], "a", id="G07"),
        pytest.param(gate(0), [At(90, tokens=5000), At(10, tokens=50)], "a", id="G08"),
        pytest.param({"explorationProbability": 1.0}, [At(90), At(10)], "ab", id="G09"),
        pytest.param(GUIDE, [At(9, 15, 567036), At(0, 15, 0)], "a", id="G10"),
        pytest.param(GUIDE, [At(9, 15, 567037), At(0, 15, 0)], "ab", id="G11"),
        pytest.param(GUIDE, [At(9, 15, 1000000), At(0, 15, 500000)], "a", id="G12"),
        pytest.param(GUIDE, [At(8, 15, 0), At(0, 15, 0)], "ab", id="G13"),
        pytest.param(GUIDE, [At(9, 15, 900000), At(10, 15, 100), At(0, 15, 0)], "ab", id="G14"),
        pytest.param(GUIDE, [At(9, 15, 900000), At(10, 15, 900000)], "ab", id="G15"),
        pytest.param({}, [At(4, 5, 286704), At(0, 5, 0)], "a", id="G16"),
        pytest.param({}, [At(4, 5, 286705), At(0, 5, 0)], "ab", id="G17"),
        pytest.param(GUIDE, [At(0, 0), At(0, 0)], "ab", id="G18"),
        pytest.param(predicted(5000), [At(90), At(10)], "a", id="G19"),
        pytest.param(predicted(5000), [At(90), At(10, ttft=1)], "ab", id="no-prediction-is-never"),
        pytest.param(GUIDE, [At(9, 15), At(0, 15)], "a", id="no-load-is-idle"),
    ],
)
def test_keeps(parameters: dict[str, Any], endpoints: list[At], expected: str) -> None:
    assert kept(parameters, [at.endpoint(name) for at, name in zip(endpoints, "abc", strict=False)]) == list(expected)


def test_endpoints_without_a_match_are_not_sticky() -> None:
    assert kept(GUIDE, [candidate("a"), At(90).endpoint("b")]) == ["b"]


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        pytest.param({"affinityThreshold": 1.5}, "affinityThreshold", id="G30"),
        pytest.param({"explorationProbability": -0.1}, "explorationProbability", id="G31"),
        pytest.param({"peakPrefillThroughput": -1}, "peakPrefillThroughput", id="G32"),
        pytest.param({"ttftSource": "bogus"}, "ttftSource", id="G33"),
        pytest.param({"ttftSource": ""}, "ttftSource", id="G34"),
        pytest.param({"peakPrefillThroughput": 0}, "peakPrefillThroughput", id="G35"),
        pytest.param({"maxTTFTPenaltyMs": -1}, "maxTTFTPenaltyMs", id="negative-penalty"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigError) as raised:
        decode(Parameters, parameters)

    assert raised.value.field == field


@pytest.mark.parametrize(
    "parameters",
    [{"maxTTFTPenaltyMs": 0, "peakPrefillThroughput": 0}, {"ttftSource": "latencyPredictor", "peakPrefillThroughput": 0}],
    ids=["G36-no-gate", "G36-predicted"],
)
def test_throughput_is_needed_only_where_it_counts(parameters: dict[str, Any]) -> None:
    assert decode(Parameters, parameters).peak_prefill_throughput == 0


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, {prefix_match(), inflight_load()}),
        ({"maxTTFTPenaltyMs": 0}, {prefix_match()}),
        ({"ttftSource": "latencyPredictor"}, {prefix_match(), latency_prediction()}),
        ({"prefixMatchInfoProducerName": "p", "inFlightLoadProducerName": "l"}, {prefix_match("p"), inflight_load("l")}),
    ],
    ids=["default", "no-gate", "predicted", "named"],
)
def test_reads_what_it_needs(parameters: dict[str, Any], expected: set[str]) -> None:
    plugin = PrefixCacheAffinityFilter(TYPE, decode(Parameters, parameters), make_handle())

    assert plugin.consumes().required == expected
