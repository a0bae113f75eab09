import logging
from typing import Any

import pytest
import yaml

from router.framework.compat import Compat
from router.framework.errors import ConfigError, ErrorCode, RequestError
from router.framework.parameters import decode
from router.plugins.profile_handlers.disagg_profile_handler import Parameters
from tests.support.documents import E_P_D, E_PD
from tests.support.engine import REFERENCE, load_configuration
from tests.support.staged import Pod, Staged, image, video

ENCODERS, PREFILLER = "x-encoder-hosts-ports", "x-prefiller-host-port"
ENCODER, PREFILL, DECODE = Pod("10.0.0.9", "encode"), Pod("10.0.0.5", "prefill"), Pod("10.0.0.1", "decode")
E_PD_PODS = {"e": ENCODER, "pd": Pod("10.0.0.1", "prefill-decode")}
E_P_D_PODS = {"e": ENCODER, "p": PREFILL, "d": DECODE}
DECIDERS = ["always-disagg-multimodal-decider", "always-disagg-pd-decider"]


def routing(headers: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name in (ENCODERS, PREFILLER)}


@pytest.mark.parametrize(
    ("text", "pods", "media", "stages", "decision", "headers"),
    [
        pytest.param(E_PD, E_PD_PODS, [], ["decode"], "decode-only", {}, id="I20"),
        pytest.param(E_PD, E_PD_PODS, [image()], ["decode", "encode"], "encode-decode", {ENCODERS: "10.0.0.9:8000"}, id="I21"),
        pytest.param(E_P_D, E_P_D_PODS, [], ["decode", "prefill"], "prefill-decode", {PREFILLER: "10.0.0.5:8000"}, id="I22"),
        pytest.param(
            E_P_D,
            E_P_D_PODS,
            [video()],
            ["decode", "encode", "prefill"],
            "encode-prefill-decode",
            {ENCODERS: "10.0.0.9:8000", PREFILLER: "10.0.0.5:8000"},
            id="I23",
        ),
        pytest.param(
            E_P_D,
            {"p": PREFILL, "d": DECODE},
            [image()],
            ["decode", "prefill"],
            "prefill-decode",
            {PREFILLER: "10.0.0.5:8000"},
            id="I24",
        ),
    ],
)
async def test_stages_of_the_topologies(
    text: str, pods: dict[str, Pod], media: list[str], stages: list[str], decision: str, headers: dict[str, str]
) -> None:
    staged = Staged(text, pods)

    request, result = await staged.send(*media)

    assert list(result.profiles) == stages
    assert result.primary == "decode"
    assert staged.metrics.decisions == [("m", decision)]
    assert routing(request.headers) == headers


async def test_I25_no_decode_endpoint_is_a_full_pool() -> None:
    with pytest.raises(RequestError) as raised:
        await Staged(E_PD, {"e": ENCODER}).send()

    assert raised.value.code is ErrorCode.ResourceExhausted
    assert raised.value.dropped_reason is not None
    assert raised.value.dropped_reason.value == "rejected-saturated"


async def test_I26_every_encode_target_is_named() -> None:
    document = yaml.safe_load(E_PD)
    document["plugins"].append({"type": "max-score-picker", "name": "two", "parameters": {"maxNumOfEndpoints": 2}})
    document["schedulingProfiles"][0]["plugins"][-1] = {"pluginRef": "two"}

    request, _ = await Staged(yaml.safe_dump(document), {**E_PD_PODS, "e2": Pod("10.0.0.10", "encode")}).send(image())

    assert request.headers[ENCODERS] == "10.0.0.9:8000,10.0.0.10:8000"


async def test_field_P09_addresses_of_version_6_have_brackets() -> None:
    pods = {"e": Pod("fd00::9", "encode"), "p": Pod("fd00::5", "prefill"), "d": Pod("fd00::1", "decode")}

    request, result = await Staged(E_P_D, pods).send(image())

    assert routing(request.headers) == {ENCODERS: "[fd00::9]:8000", PREFILLER: "[fd00::5]:8000"}
    assert result.target.metadata.host_port == "[fd00::1]:8000"


async def test_I28_a_clients_routing_header_is_removed() -> None:
    request, _ = await Staged(E_PD, E_PD_PODS).send(headers={PREFILLER: "1.2.3.4:1"})

    assert routing(request.headers) == {}


@pytest.mark.parametrize(("compat", "same"), [(Compat(), True), (REFERENCE, False)], ids=["field_P36", "reference"])
async def test_the_same_picture_goes_to_the_encoder_that_knows_it(compat: Compat, same: bool) -> None:
    pods = {f"e{number}": Pod(f"10.0.1.{number}", "encode") for number in range(1, 5)} | {"p": PREFILL, "d": DECODE}
    staged = Staged(E_P_D, pods, compat=compat)
    _, first = await staged.send(image())
    chosen = first.profiles["encode"].targets[0].metadata.name

    _, second = await staged.send(image(), text="and again")

    scores = {endpoint.metadata.name: score for endpoint, score in second.profiles["encode"].scores.items()}
    assert scores[chosen] == (6.0 if same else 2.0)
    assert staged.metrics.encoder_hits == [(chosen if same else "d", "image")]
    if same:
        assert second.profiles["encode"].targets[0].metadata.name == chosen


async def test_a_stage_that_finds_no_endpoint_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    staged = Staged(E_PD, {"pd": E_PD_PODS["pd"]})

    with caplog.at_level(logging.INFO, "router.plugins.profile_handlers"):
        await staged.send(image())
        await staged.send(image())
        await staged.send()

    assert [record.message for record in caplog.records] == ["a stage finds no endpoint; requests are served without it"]


def handler(**parameters: Any) -> str:
    document = yaml.safe_load(E_P_D)
    document["plugins"][2]["parameters"] = parameters
    return yaml.safe_dump(document)


@pytest.mark.parametrize("order", ["prefill-first", "PREFILL_FIRST", "prefillFirst", "prefill"])
async def test_prefill_first_in_any_spelling(order: str) -> None:
    staged = Staged(handler(stageOrder=order, deciders={"encode": DECIDERS[0]}), E_P_D_PODS)

    _, result = await staged.send(image())

    assert list(result.profiles) == ["prefill", "encode", "decode"]


@pytest.mark.parametrize(
    "flat",
    [
        {"prefillDeciderPluginName": DECIDERS[1], "encodeDeciderPluginName": DECIDERS[0]},
        {"deciderPluginName": DECIDERS[1], "encodeDeciderPluginName": DECIDERS[0], "decodeProfile": "decode"},
    ],
)
async def test_the_flat_form(flat: dict[str, str]) -> None:
    _, result = await Staged(handler(**flat), E_P_D_PODS).send(image())

    assert list(result.profiles) == ["decode", "encode", "prefill"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"deciders": {"encode": DECIDERS[0]}, "decodeProfile": "d"}, "mixed with the flat form"),
        ({"stageOrder": "sideways"}, "'sideways' is not one of decode-first, prefill-first"),
        ({"stageOrder": "prefill-first", "deciders": {"prefill": DECIDERS[1]}}, "remove its decider"),
        ({"profiles": {"encode": "decode"}}, "not three different profiles"),
    ],
)
def test_contradictions_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        decode(Parameters, parameters)


@pytest.mark.parametrize(
    ("decider", "message"), [("nobody", 'depends on unknown plugin "nobody"'), ("queue-scorer", "a queue-scorer, not a decider")]
)
def test_a_decider_must_be_one(decider: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_configuration(handler(deciders={"prefill": decider}))
