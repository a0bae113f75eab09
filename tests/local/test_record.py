"""The recorder: what it keeps, what it hides, and that evaluations do not touch each other."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from local.record import PROJECT, SECRET, ProgramError, Recorded, evaluate, stand_in_secrets
from tests.support.programs import program
from tests.support.sources import ROOT

SERVICE = 'k8s.core.v1.Service("{name}", metadata={{"name": "{name}"}}, spec={{"type": "{kind}", "ports": [{{"port": 80}}]}}, opts=at)\n'
AT = "at = pulumi.ResourceOptions(provider=provider)\n"


def by_name(resources: list[Recorded], name: str) -> Recorded:
    return next(item for item in resources if item.name == name)


def test_the_project_is_the_one_in_the_project_file() -> None:
    assert yaml.safe_load((ROOT / "Pulumi.yaml").read_text(encoding="utf-8"))["name"] == PROJECT


def test_objects_are_manifests_sorted_by_kind_and_name(tmp_path: Path) -> None:
    body = AT + SERVICE.format(name="b", kind="ClusterIP") + SERVICE.format(name="a", kind="ClusterIP")
    body += 'k8s.core.v1.ConfigMap("z", metadata={"name": "z"}, data={"snake_case": "1"}, opts=at)'

    found = program(tmp_path)(body).objects

    assert [(item["kind"], item["metadata"]["name"]) for item in found] == [("ConfigMap", "z"), ("Service", "a"), ("Service", "b")]
    assert list(found[0]) == ["apiVersion", "kind", "metadata", "data"]
    assert found[0]["data"] == {"snake_case": "1"}


def test_whole_numbers_are_ints(tmp_path: Path) -> None:
    found = program(tmp_path)(AT + SERVICE.format(name="a", kind="ClusterIP")).objects

    assert type(found[0]["spec"]["ports"][0]["port"]) is int


def test_options_are_kept(tmp_path: Path) -> None:
    body = """
class Part(pulumi.ComponentResource):
    def __init__(self):
        super().__init__("test:part:Part", "part", {}, inside)
        kept = pulumi.ResourceOptions(parent=self, retain_on_delete=True, protect=True)
        one = k8s.core.v1.Namespace("one", metadata={"name": "one"}, opts=kept)
        k8s.core.v1.Namespace("two", metadata={"name": "two"}, opts=pulumi.ResourceOptions(
            parent=self, depends_on=[one], ignore_changes=["spec"], custom_timeouts=pulumi.CustomTimeouts(create="5m")))
        self.register_outputs({})
Part()
"""
    found = program(tmp_path)(body).resources

    one, two, part = (by_name(found, name) for name in ("one", "two", "part"))
    assert (part.custom, one.custom) == (False, True)
    assert one.parent == two.parent == part.urn
    assert one.options["retainOnDelete"]
    assert one.options["protect"]
    assert one.options["provider"]
    assert two.options["dependencies"] == [one.urn]
    assert two.options["ignoreChanges"] == ["spec"]
    assert two.options["customTimeouts"] == {"create": "5m"}


def test_a_secret_shows_its_keys_alone(tmp_path: Path) -> None:
    body = AT + 'k8s.core.v1.Secret("s", metadata={"name": "s"}, string_data={"A": pulumi.Config().require_secret("kubeconfig")}, opts=at)'

    recording = program(tmp_path)(body, secrets={"kubeconfig": "hidden"})

    assert recording.objects[0]["stringData"] == {"A": SECRET}
    assert "hidden" not in str(recording.objects)
    assert "hidden" in str(by_name(recording.resources, "s").raw)


def test_what_a_cluster_computes_reaches_the_exports(tmp_path: Path) -> None:
    body = AT + "a = " + SERVICE.format(name="a", kind="ClusterIP") + "b = " + SERVICE.format(name="b", kind="LoadBalancer")
    body += 'pulumi.export("inside", a.spec.cluster_ip)\npulumi.export("outside", b.status.load_balancer.ingress[0].ip)'

    assert program(tmp_path)(body).exports == {"inside": "10.96.0.80", "outside": "192.0.2.80"}


def test_secret_exports_are_replaced(tmp_path: Path) -> None:
    body = 'pulumi.export("token", pulumi.Config().require_secret("kubeconfig"))'

    assert program(tmp_path)(body, secrets={"kubeconfig": "hidden"}).exports == {"token": SECRET}


def test_a_refusal_is_passed_on_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match=r"^no such thing$"):
        program(tmp_path)('raise pulumi.RunError("no such thing")')


def test_a_fault_of_the_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="the program failed: KeyError: 'x'"):
        program(tmp_path)('{}["x"]')


def test_an_output_inside_a_text_is_a_fault(tmp_path: Path) -> None:
    body = AT + SERVICE.format(name="a", kind="ClusterIP").replace("k8s", "a = k8s", 1) + 'pulumi.export("x", f"{a.spec.cluster_ip}")'

    with pytest.raises(ProgramError, match="the program failed"):
        program(tmp_path)(body)


def test_a_preview_knows_less_and_registers_the_same(tmp_path: Path) -> None:
    config: dict[str, Any] = {}

    update, preview = evaluate(config, stack="dev"), evaluate(config, stack="dev", preview=True)

    assert {r.urn for r in preview.resources} == {r.urn for r in update.resources}
    assert "endpointIp" not in preview.exports or preview.exports["endpointIp"] != update.exports["endpointIp"]


def test_evaluations_do_not_see_each_other(tmp_path: Path) -> None:
    body = 'pulumi.export(pulumi.Config().require("name"), pulumi.get_stack())'

    first = program(tmp_path)(body, {"name": "a"})
    second = program(tmp_path)(body, {"name": "b"})

    assert (first.exports, second.exports) == ({"a": "test"}, {"b": "test"})


def test_evaluations_from_several_threads_take_turns() -> None:
    def namespace(number: int) -> str:
        return evaluate({"namespace": f"n{number}"}, stack="dev").exports["namespace"]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(namespace, range(8)))

    assert found == [f"n{number}" for number in range(8)]


async def test_an_evaluation_works_inside_a_running_event_loop() -> None:
    loop = asyncio.get_running_loop()

    assert evaluate({}, stack="dev").exports["topology"] == "aggregation"
    assert asyncio.get_running_loop() is loop


def test_the_default_stack_is_evaluated_without_much_work() -> None:
    evaluate({}, stack="dev")
    before = time.process_time()

    evaluate({}, stack="dev")

    assert time.process_time() - before < 2  # processor time, so that a busy machine does not matter


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, {"huggingFaceToken"}),
        ({"huggingFace": {}}, {"huggingFaceToken"}),
        ({"huggingFace": {"existingSecret": "mine"}}, set[str]()),
        ({"huggingFace": "nonsense"}, {"huggingFaceToken"}),
    ],
)
def test_stand_ins_for_secrets(config: dict[str, object], expected: set[str]) -> None:
    assert set(stand_in_secrets(config)) == expected
