"""The whole program, evaluated for every stack: identity, ownership, order, secrets, references, validity."""

import json
from collections.abc import Iterator
from typing import Any

import kubernetes_validate
import pytest
import yaml

from cli.__main__ import main
from components.crds import inference_pool
from components.settings.stack import StackSettings
from local.record import SECRET, Recorded, Recording, evaluate
from tests.support.recordings import CANARY, ROOT, STACKS, chosen, objects, recorded

CUSTOM_KINDS = {"InferencePool", "ServiceMonitor", "PodMonitor"}
KUBERNETES_VERSIONS = ("1.31", "1.34")
stacks = pytest.mark.parametrize("stack", STACKS)


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, str):
        yield value


def outside_secrets(value: Any) -> Iterator[str]:
    """Texts of a raw registration that no secret marker covers."""
    if isinstance(value, dict):
        if "4dabf18193072939515e22adb298388d" not in value:
            for item in value.values():
                yield from outside_secrets(item)
    elif isinstance(value, list):
        for item in value:
            yield from outside_secrets(item)
    elif isinstance(value, str):
        yield value


def kubernetes(recording: Recording) -> list[Recorded]:
    return [item for item in recording.resources if item.type.startswith("kubernetes:")]


def by_urn(recording: Recording) -> dict[str, Recorded]:
    return {item.urn: item for item in recording.resources}


def before(recording: Recording, item: Recorded) -> set[str]:
    """Kind/name of everything that must exist before `item`."""
    known = by_urn(recording)
    seen: set[str] = set()
    waiting = list(item.options.get("dependencies", []))
    while waiting:
        urn = waiting.pop()
        if urn in seen or urn not in known:
            continue
        seen.add(urn)
        waiting += known[urn].options.get("dependencies", [])
    manifests = [known[urn].manifest for urn in seen]
    return {f"{m['kind']}/{m['metadata']['name']}" for m in manifests if m is not None}


def find(recording: Recording, kind: str, name: str) -> Recorded:
    return next(r for r in recording.resources if (m := r.manifest) is not None and (m["kind"], m["metadata"]["name"]) == (kind, name))


def pod_templates(stack: str) -> dict[str, dict[str, Any]]:
    return {name: item["spec"]["template"] for name, item in objects(stack).items() if item["kind"] == "Deployment"}


@stacks
def test_urns_are_unique(stack: str) -> None:
    urns = [item.urn for item in recorded(stack).resources]

    assert len(urns) == len(set(urns))


@stacks
def test_a_preview_registers_what_an_update_does(stack: str) -> None:
    assert sorted(r.urn for r in recorded(stack, preview=True).resources) == sorted(r.urn for r in recorded(stack).resources)


@stacks
def test_every_object_has_a_component_as_parent(stack: str) -> None:
    known = by_urn(recorded(stack))

    for item in recorded(stack).resources:
        if item.custom:
            assert item.parent in known, f"{item.urn} hangs below the stack itself"
            assert not known[item.parent].custom
            assert known[item.parent].type.startswith("llmd:")


@stacks
def test_every_object_names_its_provider(stack: str) -> None:
    for item in kubernetes(recorded(stack)):
        assert item.options.get("provider"), f"{item.urn} would go to whatever cluster is ambient"


@stacks
def test_the_token_occurs_only_below_a_secret_marker(stack: str) -> None:
    recording = recorded(stack)

    assert not [item.urn for item in recording.resources if any(CANARY in text for text in outside_secrets(item.raw))]
    assert not [text for text in outside_secrets(recording.raw_exports) if CANARY in text]
    assert CANARY not in json.dumps(recording.objects)
    assert CANARY not in json.dumps(recording.exports)


def test_the_token_is_in_one_secret() -> None:
    holders = [item.name for item in recorded("default").resources if CANARY in json.dumps(item.raw)]

    assert holders == ["workspace-token"]
    assert objects("default")["Secret/llm-d-hf-token"]["stringData"] == {"HF_TOKEN": SECRET}


@stacks
def test_no_output_was_turned_into_text(stack: str) -> None:
    assert not [text for item in recorded(stack).resources for text in texts(item.inputs) if "__str__" in text]


@stacks
@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
def test_manifests_are_valid(stack: str, version: str) -> None:
    for item in recorded(stack).objects:
        if item["kind"] not in CUSTOM_KINDS:
            kubernetes_validate.validate(item, version, strict=True)


@stacks
def test_custom_objects_fit_their_definition(stack: str) -> None:
    schema = inference_pool.spec()["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]

    for item in recorded(stack).objects:
        if item["kind"] == "InferencePool":
            assert set(schema["required"]) <= set(item["spec"]) <= set(schema["properties"])
            reference = schema["properties"]["endpointPickerRef"]["properties"]
            assert item["spec"]["endpointPickerRef"]["failureMode"] in reference["failureMode"]["enum"]


@stacks
def test_services_select_pods_that_serve_their_ports(stack: str) -> None:
    for name, service in objects(stack).items():
        if service["kind"] != "Service":
            continue
        selector = service["spec"]["selector"].items()
        selected = {n for n, template in pod_templates(stack).items() if selector <= template["metadata"]["labels"].items()}
        front = name == "Service/multimodal-serving-proxy" and stack == "proxy-service"
        assert selected == {"Deployment/multimodal-serving-proxy" if front else "Deployment/multimodal-serving-epp"}
        ports = {p["containerPort"] for n in selected for c in pod_templates(stack)[n]["spec"]["containers"] for p in c["ports"]}
        # With a separate proxy the engine's Service keeps its http port, as the reference does, though nothing answers there.
        ignored = {8081} if stack == "proxy-service" and not front else set[int]()
        assert {p.get("targetPort", p["port"]) for p in service["spec"]["ports"]} - ignored <= ports


@stacks
def test_the_pool_selects_the_model_servers_and_their_port(stack: str) -> None:
    pool = objects(stack).get("InferencePool/multimodal-serving")
    servers = {n: t for n, t in pod_templates(stack).items() if n.startswith("Deployment/mm-baseline")}
    labels = {"llm-d.ai/guide": "aggregation"} if pool is None else pool["spec"]["selector"]["matchLabels"]

    selected = {n for n, t in pod_templates(stack).items() if labels.items() <= t["metadata"]["labels"].items()}

    assert selected == set(servers)
    if pool is not None:
        (port,) = {p["containerPort"] for t in servers.values() for c in t["spec"]["containers"] for p in c["ports"]}
        assert pool["spec"]["targetPorts"] == [{"number": port}]
        assert f"Service/{pool['spec']['endpointPickerRef']['name']}" in objects(stack)


@stacks
def test_references_of_pods_resolve(stack: str) -> None:
    known = objects(stack)
    external = {"Secret/hub-token"}

    for template in pod_templates(stack).values():
        spec = template["spec"]
        if "serviceAccountName" in spec:
            assert f"ServiceAccount/{spec['serviceAccountName']}" in known
        for volume in spec["volumes"]:
            if "configMap" in volume:
                held = known[f"ConfigMap/{volume['configMap']['name']}"]["data"]
                assert {item["key"] for item in volume["configMap"].get("items", [])} <= set(held)
        for container in spec["containers"]:
            assert {m["name"] for m in container.get("volumeMounts", [])} <= {v["name"] for v in spec["volumes"]}
            for entry in container.get("env", []):
                reference = entry.get("valueFrom", {}).get("secretKeyRef")
                assert reference is None or f"Secret/{reference['name']}" in {*known, *external}


@stacks
def test_the_engine_opens_a_document_that_its_config_map_has(stack: str) -> None:
    template = pod_templates(stack)["Deployment/multimodal-serving-epp"]
    (engine,) = [c for c in template["spec"]["containers"] if c["name"] == "epp"]

    path = engine["args"][engine["args"].index("--config-file") + 1]

    assert path.removeprefix("/config/") in objects(stack)["ConfigMap/multimodal-serving-epp"]["data"]


@stacks
def test_bindings_refer_to_what_exists(stack: str) -> None:
    for item in objects(stack).values():
        if item["kind"] in ("RoleBinding", "ClusterRoleBinding"):
            assert f"{item['roleRef']['kind']}/{item['roleRef']['name']}" in objects(stack)
            assert all(f"ServiceAccount/{subject['name']}" in objects(stack) for subject in item["subjects"])


@stacks
def test_definitions_outlive_the_stack(stack: str) -> None:
    for item in kubernetes(recorded(stack)):
        retained = item.options.get("retainOnDelete", False)
        assert retained == (item.type == "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition")


def test_everything_namespaced_waits_for_the_namespace() -> None:
    recording = recorded("default")

    for item in kubernetes(recording):
        manifest = item.manifest
        if manifest is not None and "namespace" in manifest["metadata"]:
            assert "Namespace/llm-d-multimodal-serving" in before(recording, item), item.urn


def test_the_engine_waits_for_rights_documents_and_pool() -> None:
    recording = recorded("default")

    needed = before(recording, find(recording, "Deployment", "multimodal-serving-epp"))

    assert {
        "ServiceAccount/multimodal-serving-epp",
        "RoleBinding/multimodal-serving-epp-sa",
        "RoleBinding/multimodal-serving-epp-non-sa",
        "ConfigMap/envoy",
        "ConfigMap/multimodal-serving-epp",
        "InferencePool/multimodal-serving",
        "CustomResourceDefinition/inferencepools.inference.networking.k8s.io",
    } <= needed


@stacks
def test_services_wait_for_workloads_and_nothing_waits_for_a_service(stack: str) -> None:
    recording = recorded(stack)

    for item in kubernetes(recording):
        manifest = item.manifest
        assert manifest is not None
        needed = before(recording, item)
        assert not any(name.startswith("Service/") for name in needed), item.urn
        if manifest["kind"] == "Service":
            assert any(name.startswith("Deployment/multimodal-serving") for name in needed), item.urn


@stacks
def test_nothing_waits_for_model_servers(stack: str) -> None:
    recording = recorded(stack)

    for item in kubernetes(recording):
        assert not any(name.startswith("Deployment/mm-baseline") for name in before(recording, item)), item.urn


def test_exports_of_the_default_stack() -> None:
    assert recorded("default").exports == {
        "endpointIp": "10.96.0.80",
        "endpointUrl": "http://10.96.0.80",
        "namespace": "llm-d-multimodal-serving",
        "model": "Qwen/Qwen3-VL-32B-Instruct",
        "topology": "aggregation",
        "podSelector": "llm-d.ai/guide=aggregation",
        "connectCommand": "kubectl port-forward --namespace llm-d-multimodal-serving service/multimodal-serving-epp 8080:80",
        "verifyCommand": "mmserve verify --url http://127.0.0.1:8080 --model Qwen/Qwen3-VL-32B-Instruct "
        "--namespace llm-d-multimodal-serving --selector llm-d.ai/guide=aggregation",
    }


def test_exports_of_a_load_balancer_hold_its_address() -> None:
    exports = recorded("load-balancer").exports

    assert exports["endpointIp"] == "192.0.2.80"
    assert exports["connectCommand"] == "curl http://192.0.2.80/v1/models"
    assert exports["verifyCommand"].startswith("mmserve verify --url http://192.0.2.80 ")


@stacks
def test_an_evaluation_repeats_itself(stack: str) -> None:
    choice = chosen(stack)
    again = evaluate(choice.config, stack=choice.stack, secrets=dict.fromkeys(choice.secrets, CANARY))

    assert again.objects == recorded(stack).objects
    assert again.exports == recorded(stack).exports


def test_the_verify_command_is_one_that_the_command_line_takes(capsys: pytest.CaptureFixture[str]) -> None:
    """Its options, at least: nothing listens there."""
    words = recorded("default").exports["verifyCommand"].split()

    assert words[0] == "mmserve"
    assert main([*words[1:], "--help"]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in words if word.startswith("--"))


def test_defaults_in_the_project_file_are_those_of_the_settings() -> None:
    """The engine applies the project file's defaults, every other way to look at a stack the settings' own."""
    project = yaml.safe_load((ROOT / "Pulumi.yaml").read_text(encoding="utf-8"))
    defaults = StackSettings.model_validate({}).model_dump(by_alias=True)

    assert {key: entry["default"] for key, entry in project["config"].items()} == {key: defaults[key] for key in project["config"]}


def test_stack_files_name_the_providers_that_must_be_explicit() -> None:
    for file in ROOT.glob("Pulumi.*.yaml"):
        config = yaml.safe_load(file.read_text(encoding="utf-8"))["config"]
        assert "kubernetes" in config["pulumi:disable-default-providers"], file.name
