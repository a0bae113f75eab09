from pathlib import Path

import pytest
import yaml

from local.discovery import EndpointFile, Pool, flag_values, pool_of, with_file_discovery
from local.errors import LocalError
from local.pods import expand
from tests.support.manifests import ENGINE_DOCUMENT, NAMESPACE, POOL_LABELS, deployment, pool, router_deployment

POOL = Pool(name="pool", namespace=NAMESPACE, selector=POOL_LABELS, ports=[8000])


def endpoints(path: Path) -> list[dict[str, object]]:
    return yaml.safe_load(path.read_text())["endpoints"]


def test_the_pool_of_an_engine_is_the_one_it_names() -> None:
    found = pool_of(["--pool-name", "pool"], [pool("other", {"a": "b"}), pool(ports=[8000, 8001])], NAMESPACE)

    assert found == Pool(name="pool", namespace=NAMESPACE, selector=POOL_LABELS, ports=[8000, 8001])


def test_without_a_pool_the_selector_of_its_flags_counts() -> None:
    found = pool_of(["--endpoint-selector", "app=model,tier==gold", "--endpoint-target-ports=8000,8001"], [], NAMESPACE)

    assert found.selector == {"app": "model", "tier": "gold"}
    assert found.ports == [8000, 8001]


@pytest.mark.parametrize("selector", ["app in (a,b)", "app!=x", "app", ""])
def test_selectors_that_are_not_played_yet_are_refused(selector: str) -> None:
    with pytest.raises(LocalError, match="only key=value"):
        pool_of([f"--endpoint-selector={selector}"], [], NAMESPACE)


def test_a_pool_that_does_not_exist_is_refused() -> None:
    with pytest.raises(LocalError, match="no InferencePool"):
        pool_of(["--pool-name=nope"], [pool()], NAMESPACE)


def test_flags_are_read_in_both_spellings() -> None:
    assert flag_values(["--a", "1", "--b=2", "--c", "--d", "word"]) == {"a": "1", "b": "2", "c": "true", "d": "word"}


def test_an_engines_document_is_turned_to_the_file() -> None:
    document = yaml.safe_load(with_file_discovery(ENGINE_DOCUMENT, Path("/run/endpoints.yaml")))

    assert document["plugins"][-1] == {"type": "file-discovery", "parameters": {"path": "/run/endpoints.yaml", "watchFile": True}}
    assert document["dataLayer"] == {"discovery": {"pluginRef": "file-discovery"}}
    assert document["plugins"][0] == {"type": "token-load-scorer"}


def test_what_the_document_says_about_the_data_layer_stays() -> None:
    text = f"{ENGINE_DOCUMENT}dataLayer: {{sources: [{{pluginRef: metrics-data-source}}]}}\n"

    assert yaml.safe_load(with_file_discovery(text, Path("/x")))["dataLayer"]["sources"] == [{"pluginRef": "metrics-data-source"}]


@pytest.mark.parametrize("text", ["kind: Other\n", "just words", "- a\n"])
def test_other_documents_stay(text: str) -> None:
    assert with_file_discovery(text, Path("/x")) == text


def test_the_file_lists_ready_members_of_the_pool_only(tmp_path: Path) -> None:
    [member] = expand([deployment()])
    [stranger] = expand([router_deployment()])
    file = EndpointFile(tmp_path / "e.yaml", POOL)

    assert file.write([(member, "127.70.1.2"), (stranger, "127.70.1.1")])

    assert endpoints(file.path) == [
        {"name": member.name, "namespace": NAMESPACE, "address": "127.70.1.2", "port": "8000", "labels": dict(member.labels)}
    ]


def test_each_target_port_is_an_endpoint(tmp_path: Path) -> None:
    [member] = expand([deployment()])
    file = EndpointFile(tmp_path / "e.yaml", Pool(name="pool", namespace=NAMESPACE, selector=POOL_LABELS, ports=[8000, 8001]))

    file.write([(member, "127.70.1.2")])

    assert [(entry["name"], entry["port"]) for entry in endpoints(file.path)] == [(member.name, "8000"), (f"{member.name}-rank-1", "8001")]


def test_the_file_is_replaced_as_a_whole_and_only_when_it_changes(tmp_path: Path) -> None:
    [member] = expand([deployment()])
    file = EndpointFile(tmp_path / "e.yaml", POOL)
    file.write([])
    first = file.path.stat().st_ino

    assert not file.write([])
    assert file.path.stat().st_ino == first
    assert file.write([(member, "127.70.1.2")])
    assert file.path.stat().st_ino != first
    assert list(tmp_path.iterdir()) == [file.path]
