"""`mmserve render`: formats, stability, secrets."""

import json
import re

import pytest
import yaml

from cli.render import Format, ordered, rendered
from tests.support.recordings import CANARY, STACKS, recorded


def texts(name: str, output: Format, everything: bool = False) -> str:
    return rendered(recorded(name), output, everything)


def test_yaml_holds_every_object_as_a_document() -> None:
    documents = list(yaml.safe_load_all(texts("default", Format.YAML)))

    assert documents == recorded("default").objects


def test_json_is_a_list_that_can_be_applied() -> None:
    document = json.loads(texts("default", Format.JSON))

    assert (document["apiVersion"], document["kind"]) == ("v1", "List")
    assert document["items"] == recorded("default").objects
    assert "resources" not in document


def test_objects_are_sorted_by_kind_and_name() -> None:
    keys = [
        (item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"])
        for item in yaml.safe_load_all(texts("default", Format.YAML))
    ]

    assert keys == sorted(keys)


def test_all_adds_providers_with_their_options() -> None:
    added = list(yaml.safe_load_all(texts("default", Format.YAML, everything=True)))[len(recorded("default").objects) :]

    assert [set(item) for item in added] == [{"type", "name", "inputs", "options"}]
    assert added[0]["type"] == "pulumi:providers:kubernetes"
    assert json.loads(texts("default", Format.JSON, everything=True))["resources"] == added


def test_the_tree_shows_what_belongs_to_what() -> None:
    lines = texts("monitoring", Format.TREE).splitlines()

    assert lines[0] == "stack"
    assert "├─ router  (llmd:serving:Router)" in lines
    assert any(re.fullmatch(r"│  [├└]─ Deployment/multimodal-serving-epp", line) for line in lines)
    assert not any("providers" in line for line in lines)
    assert any("providers" in line for line in texts("monitoring", Format.TREE, everything=True).splitlines())


@pytest.mark.parametrize("output", Format)
@pytest.mark.parametrize("name", STACKS)
def test_no_secret_is_printed(name: str, output: Format) -> None:
    assert CANARY not in texts(name, output, everything=True)


def test_the_token_is_shown_as_a_secret() -> None:
    assert "HF_TOKEN: '[secret]'" in texts("default", Format.YAML)


def test_embedded_documents_stay_readable() -> None:
    assert "envoy.yaml: |\n    admin:" in texts("default", Format.YAML)


def test_keys_have_one_order_at_every_depth() -> None:
    value = {"spec": [{"b": 1, "name": "x", "a": 2}], "metadata": {"name": "n"}, "kind": "K", "apiVersion": "v1"}

    found = ordered(value)

    assert list(found) == ["apiVersion", "kind", "metadata", "spec"]
    assert list(found["spec"][0]) == ["name", "a", "b"]


def test_no_anchors_are_printed() -> None:
    assert not re.search(r"&id\d|\*id\d", "".join(texts(name, Format.YAML, everything=True) for name in STACKS))
