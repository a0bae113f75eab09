"""What the program writes into objects, read by the programs that get it: flags, documents, headers, labels, ports."""

from typing import Any

import pytest
import yaml

from components.plan import envoy
from router import wire
from router.engine import options as engine_options
from simulator import options as simulator_options
from tests.support.engine import load_configuration
from tests.support.recordings import STACKS, objects

stacks = pytest.mark.parametrize("stack", STACKS)
ENGINE = "Deployment/multimodal-serving-epp"
MODEL_SERVER = "Deployment/mm-baseline-nvidia-gpu-vllm-decode"


def container(stack: str, workload: str, name: str) -> dict[str, Any]:
    containers = objects(stack)[workload]["spec"]["template"]["spec"]["containers"]
    return next(item for item in containers if item["name"] == name)


def parsed(stack: str) -> engine_options.Options:
    return engine_options.parse(container(stack, ENGINE, "epp")["args"], {"NAMESPACE": "here", "POD_NAME": "pod"})


@stacks
def test_the_engine_takes_its_arguments(stack: str) -> None:
    options = parsed(stack)

    pool = objects(stack).get("InferencePool/multimodal-serving")
    assert options.pool_name == ("multimodal-serving" if pool else "")
    assert options.endpoint_selector == ("" if pool else "llm-d.ai/guide=aggregation")
    assert options.endpoint_target_ports == (() if pool else (8000,))
    assert options.secure_serving == (stack != "plaintext")
    assert options.metrics_endpoint_auth == (stack != "monitoring")


@stacks
def test_the_engine_listens_where_pods_and_services_say(stack: str) -> None:
    options = parsed(stack)

    ports = {port["name"]: port["containerPort"] for port in container(stack, ENGINE, "epp")["ports"]}
    assert ports == {"grpc": options.grpc_port, "grpc-health": options.grpc_health_port, "metrics": options.metrics_port}


@pytest.mark.parametrize("name", ["aggregation-plugins.yaml", "default-plugins.yaml"])
def test_the_engine_reads_its_documents(name: str) -> None:
    text = objects("default")["ConfigMap/multimodal-serving-epp"]["data"][name]

    assert load_configuration(text, source=name).scheduler.profiles


@stacks
def test_the_simulator_takes_the_model_server_s_arguments(stack: str) -> None:
    options = simulator_options.parse([*container(stack, MODEL_SERVER, "modelserver")["args"], "--sim-strict-flags"], {})

    assert options.model == "Qwen/Qwen3-VL-32B-Instruct"
    assert options.mm_processor_cache_gb == 20
    (port,) = container(stack, MODEL_SERVER, "modelserver")["ports"]
    assert port["containerPort"] == options.port


def test_proxy_and_engine_mean_the_same_headers() -> None:
    assert (envoy.DESTINATION, *wire.ROUTING_HEADERS) == envoy.ROUTING_HEADERS
    assert envoy.DESTINATION == wire.DESTINATION
    assert envoy.HEALTH_SERVICE == wire.EXT_PROC_SERVICE


@stacks
def test_the_proxy_connects_to_the_engine_s_port(stack: str) -> None:
    document = yaml.safe_load(objects(stack)["ConfigMap/envoy"]["data"]["envoy.yaml"])
    (cluster,) = [item for item in document["static_resources"]["clusters"] if item["name"] == "ext_proc"]

    address = cluster["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"]["socket_address"]
    assert address["port_value"] == parsed(stack).grpc_port == wire.EXT_PROC_PORT
    assert ("transport_socket" in cluster) == parsed(stack).secure_serving


def test_pods_carry_the_role_label_that_the_engine_reads() -> None:
    labels = objects("default")[MODEL_SERVER]["spec"]["template"]["metadata"]["labels"]

    assert labels[wire.ROLE_LABEL] == "decode"
