"""Envoy's document: what it says, and that the real Envoy takes it."""

import dataclasses
import itertools
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.plan import envoy
from components.plan.names import names
from components.settings.stack import load

ENVOY = Path(sys.executable).parent / "envoy"


def choices(**changes: Any) -> envoy.Choices:
    usual = envoy.Choices(fail_open=False, secure=True, ipv6=True, engine_host="127.0.0.1")
    return dataclasses.replace(usual, **changes)


def document(**changes: Any) -> dict[str, Any]:
    return envoy.document(choices(**changes))


def listener(found: dict[str, Any], name: str = "vllm") -> dict[str, Any]:
    return next(item for item in found["static_resources"]["listeners"] if item["name"] == name)


def cluster(found: dict[str, Any], name: str) -> dict[str, Any]:
    return next(item for item in found["static_resources"]["clusters"] if item["name"] == name)


def filters(found: dict[str, Any]) -> list[dict[str, Any]]:
    return listener(found)["filter_chains"][0]["filters"][0]["typed_config"]["http_filters"]


def test_routing_headers_are_removed_before_the_engine_is_asked() -> None:
    order = [entry["name"].rsplit(".", 1)[-1] for entry in filters(document())]

    assert order == ["header_mutation", "ext_proc", "router"]
    removed = {mutation["remove"] for mutation in filters(document())[0]["typed_config"]["mutations"]["request_mutations"]}
    assert removed == {
        "x-gateway-destination-endpoint",
        "x-prefiller-host-port",
        "x-encoder-hosts-ports",
        "x-data-parallel-host-port",
        "x-kv-cache-source-host-port",
    }


def test_both_bodies_stream_through_a_small_buffer() -> None:
    mode = filters(document())[1]["typed_config"]["processing_mode"]

    assert (mode["request_body_mode"], mode["response_body_mode"]) == ("FULL_DUPLEX_STREAMED", "FULL_DUPLEX_STREAMED")
    assert listener(document())["per_connection_buffer_limit_bytes"] == 32768


@pytest.mark.parametrize("fail_open", [False, True])
def test_failing_open_is_a_choice(fail_open: bool) -> None:
    assert filters(document(fail_open=fail_open))[1]["typed_config"]["failure_mode_allow"] is fail_open


def test_plaintext_leaves_out_both_tls_blocks() -> None:
    secure, plain = (cluster(document(secure=secure), "ext_proc") for secure in (True, False))

    assert "transport_socket" in secure
    assert "tls_options" in secure["health_checks"][0]
    assert "transport_socket" not in plain
    assert "tls_options" not in plain["health_checks"][0]


@pytest.mark.parametrize("ipv6", [False, True])
def test_ipv6_is_a_choice(ipv6: bool) -> None:
    found = document(ipv6=ipv6)

    assert all(("additional_addresses" in item) is ipv6 for item in found["static_resources"]["listeners"])


@pytest.mark.parametrize(("host", "kind"), [("127.0.0.1", "STATIC"), ("engine.here.svc.cluster.local", "STRICT_DNS")])
def test_the_engine_is_beside_or_found_by_name(host: str, kind: str) -> None:
    found = cluster(document(engine_host=host), "ext_proc")

    address = found["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"]["socket_address"]
    assert (found["type"], address) == (kind, {"address": host, "port_value": 9002})


def test_the_decision_header_names_the_destination() -> None:
    found = cluster(document(), "original_destination_cluster")

    assert found["original_dst_lb_config"] == {"use_http_header": True, "http_header_name": "x-gateway-destination-endpoint"}


def test_a_stack_s_document_reflects_its_settings() -> None:
    settings = load({"router": {"proxy": {"mode": "service", "failOpen": True, "ipv6": False}, "secureServing": False}})

    text = envoy.bootstrap(settings, names(settings, "1"))

    remote = "multimodal-serving-epp.llm-d-multimodal-serving.svc.cluster.local"
    assert yaml.safe_load(text) == document(fail_open=True, secure=False, ipv6=False, engine_host=remote)
    assert "&id" not in text


VARIANTS = list(itertools.product([False, True], [False, True], [False, True], ["127.0.0.1", "engine.here.svc.cluster.local"]))


@pytest.mark.skipif(shutil.which(str(ENVOY)) is None, reason="the envoy binary is not installed in this environment")
@pytest.mark.parametrize(("fail_open", "secure", "ipv6", "host"), VARIANTS)
def test_the_real_envoy_takes_the_document(tmp_path: Path, fail_open: bool, secure: bool, ipv6: bool, host: str) -> None:
    file = tmp_path / "envoy.yaml"
    file.write_text(yaml.safe_dump(document(fail_open=fail_open, secure=secure, ipv6=ipv6, engine_host=host)), encoding="utf-8")

    done = subprocess.run([ENVOY, "--mode", "validate", "-c", file], capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 0, done.stderr
