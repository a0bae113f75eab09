import pytest

from router.disaggregation.headers import announce_stages
from router.framework.scheduling import ProfileResult, SchedulingResult
from tests.support.engine import candidate, inference_request

ENCODERS, PREFILLER = "x-encoder-hosts-ports", "x-prefiller-host-port"


def headers_of(*, prefill: tuple[str, ...] = (), encode: tuple[str, ...] = (), given: dict[str, str] | None = None) -> dict[str, str]:
    request = inference_request(headers=given)
    stages = {"decode": ("10.0.0.1",), "prefill": prefill, "encode": encode}
    profiles = {
        name: ProfileResult(targets=tuple(candidate(address=address) for address in addresses))
        for name, addresses in stages.items()
        if addresses
    }

    announce_stages(request, SchedulingResult(profiles=profiles, primary="decode"), prefill="prefill", encode="encode")

    return request.headers


def test_the_first_prefill_target_is_named() -> None:
    assert headers_of(prefill=("10.0.0.5", "10.0.0.6")) == {PREFILLER: "10.0.0.5:8000"}


def test_I26_every_encode_target_is_named() -> None:
    assert headers_of(encode=("10.0.0.9", "10.0.0.10")) == {ENCODERS: "10.0.0.9:8000,10.0.0.10:8000"}


def test_I27_addresses_of_version_6_have_brackets() -> None:
    assert headers_of(prefill=("fd00::5",)) == {PREFILLER: "[fd00::5]:8000"}


@pytest.mark.parametrize(("stage", "header"), [("encode", ENCODERS), ("prefill", PREFILLER)])
def test_field_P09_brackets_in_both_routing_headers(stage: str, header: str) -> None:
    prefill, encode = (("fd00::1",) if stage == wanted else () for wanted in ("prefill", "encode"))

    assert headers_of(prefill=prefill, encode=encode) == {header: "[fd00::1]:8000"}


def test_I28_what_was_there_before_is_removed() -> None:
    assert headers_of(given={PREFILLER: "1.2.3.4:1", ENCODERS: "1.2.3.4:2", "x-other": "kept"}) == {"x-other": "kept"}
