import base64
from pathlib import Path
from typing import Any

import pytest

from local.addresses import AddressTable
from local.errors import LocalError
from local.mounts import STAND_IN, Documents, Filesystem, PathTable, document_rewriter, environment, expand, field_value
from local.pods import Pod
from local.pods import expand as pods_of
from tests.support.manifests import NAMESPACE, config_map, container, deployment, secret

ADDRESS = "127.70.1.2"


def unchanged(text: str) -> str:
    return text


def pod_with(**spec: Any) -> Pod:
    [pod] = pods_of([deployment(**spec)])
    return pod


def written(folder: Path, volume: dict[str, Any], *objects: dict[str, Any]) -> dict[str, str]:
    """The files of one volume by their path below it."""
    volumes = Filesystem(pod_with(volumes=[{"name": "v", **volume}]), ADDRESS, folder, Documents(objects, NAMESPACE))
    volumes.create(unchanged)
    return {str(path.relative_to(folder / "v")): path.read_text() for path in (folder / "v").rglob("*") if path.is_file()}


def env_of(entries: list[dict[str, Any]], *objects: dict[str, Any], **fields: Any) -> dict[str, str]:
    given = container(env=entries, **fields)
    return environment(given, pod_with(), ADDRESS, Documents(objects, NAMESPACE), unchanged)


def test_all_keys_of_a_config_map_are_files(tmp_path: Path) -> None:
    assert written(tmp_path, {"configMap": {"name": "c"}}, config_map("c", {"a": "1", "b": "2"})) == {"a": "1", "b": "2"}


def test_items_choose_and_rename_keys(tmp_path: Path) -> None:
    volume = {"configMap": {"name": "c", "items": [{"key": "a", "path": "x/y"}]}}

    assert written(tmp_path, volume, config_map("c", {"a": "1", "b": "2"})) == {"x/y": "1"}


def test_secrets_are_decoded(tmp_path: Path) -> None:
    encoded = base64.b64encode(b"hush").decode()

    assert written(tmp_path, {"secret": {"secretName": "s"}}, secret("s", {"token": encoded})) == {"token": "hush"}


def test_a_redacted_secret_is_taken_as_it_stands(tmp_path: Path) -> None:
    assert written(tmp_path, {"secret": {"secretName": "s"}}, secret("s", {"token": "[secret]"})) == {"token": "[secret]"}


@pytest.mark.parametrize("kind", ["emptyDir", "persistentVolumeClaim", "ephemeral"])
def test_scratch_space_is_an_empty_folder(tmp_path: Path, kind: str) -> None:
    assert written(tmp_path, {kind: {}}) == {}
    assert (tmp_path / "v").is_dir()


def test_facts_about_the_pod_are_files(tmp_path: Path) -> None:
    volume = {"downwardAPI": {"items": [{"path": "ns", "fieldRef": {"fieldPath": "metadata.namespace"}}]}}

    assert written(tmp_path, volume) == {"ns": NAMESPACE}


def test_a_projected_volume_joins_its_sources(tmp_path: Path) -> None:
    volume = {"projected": {"sources": [{"configMap": {"name": "c"}}, {"secret": {"name": "s"}}]}}

    assert written(tmp_path, volume, config_map("c", {"a": "1"}), secret("s", {"b": "Mg=="})) == {"a": "1", "b": "2"}


def test_bytes_that_are_no_text_stay_as_they_are(tmp_path: Path) -> None:
    content = bytes(range(256))
    item = {**config_map("c", {}), "binaryData": {"raw": base64.b64encode(content).decode()}}
    volumes = Filesystem(pod_with(volumes=[{"name": "v", "configMap": {"name": "c"}}]), ADDRESS, tmp_path, Documents([item], NAMESPACE))

    volumes.create(lambda text: text + "changed")

    assert (tmp_path / "v" / "raw").read_bytes() == content


@pytest.mark.parametrize(
    ("volume", "message"),
    [
        ({"configMap": {"name": "gone"}}, "needs ConfigMap/gone"),
        ({"configMap": {"name": "c", "items": [{"key": "z", "path": "z"}]}}, "needs key 'z' of ConfigMap/c"),
        ({"hostPath": {"path": "/"}}, "of kind hostPath is not yet played"),
    ],
    ids=["missing-object", "missing-key", "unknown-kind"],
)
def test_a_volume_that_cannot_be_made_is_refused(tmp_path: Path, volume: dict[str, Any], message: str) -> None:
    with pytest.raises(LocalError, match=message):
        written(tmp_path, volume, config_map("c", {"a": "1"}))


def test_an_optional_object_may_be_missing(tmp_path: Path) -> None:
    assert written(tmp_path, {"configMap": {"name": "gone", "optional": True}}) == {}


def test_a_file_may_not_leave_its_volume(tmp_path: Path) -> None:
    volume = {"configMap": {"name": "c", "items": [{"key": "a", "path": "../../out"}]}}

    with pytest.raises(LocalError, match="may not leave"):
        written(tmp_path, volume, config_map("c", {"a": "1"}))


def test_mount_paths_stand_for_folders(tmp_path: Path) -> None:
    volumes = Filesystem(pod_with(), ADDRESS, tmp_path, Documents([]))
    mounts = [{"name": "v", "mountPath": "/config/"}, {"name": "v", "mountPath": "/one", "subPath": "a"}]

    assert volumes.mounts(container(volumeMounts=mounts)) == {"/config": tmp_path / "v", "/one": tmp_path / "v" / "a"}


PATHS = {
    "whole": ("/config", "/run/v"),
    "below": ("/config/a.yaml", "/run/v/a.yaml"),
    "flag": ("--file=/config/a.yaml", "--file=/run/v/a.yaml"),
    "json": ('{"path":"/config/a"}', '{"path":"/run/v/a"}'),
    "longer-mount": ("/config/deep/x", "/run/w/x"),
    "other-path": ("/etc/config/a", "/etc/config/a"),
    "longer-name": ("/configuration/a", "/configuration/a"),
    "url": ("http://host/config", "http://host/config"),
}


@pytest.mark.parametrize(("text", "expected"), PATHS.values(), ids=PATHS)
def test_paths_are_replaced_where_they_stand_for_a_mount(text: str, expected: str) -> None:
    assert PathTable({"/config": Path("/run/v"), "/config/deep": Path("/run/w")}).text(text) == expected


def test_in_documents_only_paths_that_exist_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").touch()
    paths = PathTable({"/config": tmp_path})

    assert paths.text("file: /config/a.yaml, route: /config/b", existing=True) == f"file: {tmp_path}/a.yaml, route: /config/b"


def test_documents_change_addresses_and_paths(tmp_path: Path) -> None:
    (tmp_path / "tls.crt").touch()
    rewrite = document_rewriter(AddressTable(ADDRESS, NAMESPACE), PathTable({"/tls": tmp_path}))

    assert rewrite("listen 0.0.0.0 /tls/tls.crt") == f"listen {ADDRESS} {tmp_path}/tls.crt"


def test_variables_come_from_values_fields_and_keys() -> None:
    entries = [
        {"name": "A", "value": "1"},
        {"name": "B", "value": "$(A)2"},
        {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "t"}}},
        {"name": "MAP", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}},
        {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
    ]
    found = env_of(entries, secret("s", {"t": "aHVzaA=="}), config_map("c", {"k": "v"}), resources={"limits": {"cpu": "4"}})

    assert found == {"A": "1", "B": "12", "IP": ADDRESS, "TOKEN": "hush", "MAP": "v", "CPU": "4"}


def test_whole_objects_become_variables() -> None:
    sources = [{"configMapRef": {"name": "c"}, "prefix": "X_"}, {"secretRef": {"name": "s"}}]

    assert env_of([], config_map("c", {"k": "v"}), secret("s", {"t": "aHVzaA=="}), envFrom=sources) == {"X_k": "v", "t": "hush"}


def test_a_secret_outside_the_stack_is_stood_in_for() -> None:
    reference = {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "elsewhere", "key": "HF_TOKEN"}}}

    assert env_of([reference]) == {"HF_TOKEN": STAND_IN}


@pytest.mark.parametrize("optional", [True, False])
def test_a_missing_config_map_key_is_an_error_unless_optional(optional: bool) -> None:
    reference = {"name": "X", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k", "optional": optional}}}
    if optional:
        assert env_of([reference]) == {}
        return

    with pytest.raises(LocalError, match="ConfigMap/c with key 'k'"):
        env_of([reference])


def test_references_expand_and_unknown_ones_stay() -> None:
    assert expand("$(A)-$(B)-$$(A)", {"A": "1"}) == "1-$(B)-$(A)"


def test_fields_of_a_pod() -> None:
    pod = pod_with()

    assert field_value(pod, ADDRESS, "metadata.name") == pod.name
    assert field_value(pod, ADDRESS, "metadata.labels['app']") == "model"
    assert field_value(pod, ADDRESS, "metadata.annotations['none']") == ""
    with pytest.raises(LocalError, match=r"'status\.mood' is unknown"):
        field_value(pod, ADDRESS, "status.mood")
