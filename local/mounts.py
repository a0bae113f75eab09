"""What a container finds in its file system and environment: ConfigMaps, Secrets, scratch space, facts about its pod.

Everything is laid out below one folder of the run. A container here has no root of its own, so a mount path such as
`/config` stands for a folder of the run wherever it occurs in arguments, environment and documents.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from local.addresses import AddressTable
from local.errors import LocalError
from local.pods import Pod

STAND_IN = "stand-in"  # value of a key whose Secret lives outside the stack: nothing on this machine needs the real one
REFERENCE = re.compile(r"\$\((?P<name>[A-Za-z_][\w.\-]*)\)|\$\$")
FIELD_WITH_KEY = re.compile(r"^metadata\.(?P<kind>labels|annotations)\['(?P<key>[^']+)'\]$")
SCRATCH = frozenset({"emptyDir", "persistentVolumeClaim", "ephemeral"})  # a claim starts empty here: no weights are needed


class Documents:
    """The ConfigMaps and Secrets of a stack, by namespace and name."""

    def __init__(self, objects: Iterable[Mapping[str, Any]], namespace: str = "default") -> None:
        self._entries: dict[tuple[str, str, str], dict[str, bytes]] = {}
        for item in objects:
            if item["kind"] in ("ConfigMap", "Secret"):
                metadata = item["metadata"]
                self._entries[item["kind"], metadata.get("namespace") or namespace, metadata["name"]] = _contents(item)

    def find(self, kind: str, namespace: str, name: str) -> dict[str, bytes] | None:
        """The keys and values of one object, or None where the stack does not have it."""
        return self._entries.get((kind, namespace, name))


class Filesystem:
    """The volumes of one pod below `folder`; `mounts` gives a container's paths."""

    def __init__(self, pod: Pod, address: str, folder: Path, documents: Documents) -> None:
        self._pod = pod
        self._address = address
        self._folder = folder
        self._documents = documents

    def create(self, rewrite: Callable[[str], str]) -> None:
        """Write all volumes; `rewrite` changes the text of each document."""
        for volume in self._pod.spec.get("volumes") or []:
            target = self._folder / volume["name"]
            target.mkdir(parents=True, exist_ok=True)
            for path, content in self._files(volume).items():
                _write(target / path, content, rewrite)

    def mounts(self, container: Mapping[str, Any]) -> dict[str, Path]:
        """The container's mount paths and the folders that stand for them."""
        table: dict[str, Path] = {}
        for mount in container.get("volumeMounts") or []:
            folder = self._folder / mount["name"]
            table[mount["mountPath"].rstrip("/") or "/"] = folder / mount["subPath"] if "subPath" in mount else folder
        return table

    def _files(self, volume: Mapping[str, Any]) -> dict[str, bytes]:
        if SCRATCH & volume.keys():
            return {}
        if "projected" in volume:
            sources = volume["projected"].get("sources") or []
            return {path: content for source in sources for path, content in self._files({"name": volume["name"], **source}).items()}
        if "configMap" in volume:
            return self._object_files("ConfigMap", volume["configMap"]["name"], volume["configMap"], volume["name"])
        if "secret" in volume:
            name = volume["secret"].get("secretName") or volume["secret"]["name"]
            return self._object_files("Secret", name, volume["secret"], volume["name"])
        if "downwardAPI" in volume:
            items = volume["downwardAPI"].get("items") or []
            return {item["path"]: field_value(self._pod, self._address, item["fieldRef"]["fieldPath"]).encode() for item in items}
        kind = next((key for key in volume if key != "name"), "nothing")
        raise LocalError(f"pod {self._pod.name}: volume {volume['name']} of kind {kind} is not yet played on this machine")

    def _object_files(self, kind: str, name: str, source: Mapping[str, Any], volume: str) -> dict[str, bytes]:
        contents = self._documents.find(kind, self._pod.namespace, name)
        if contents is None:
            if source.get("optional"):
                return {}
            raise LocalError(f"pod {self._pod.name}: volume {volume} needs {kind}/{name}, which is not part of the stack")
        if not source.get("items"):
            return contents
        missing = [item["key"] for item in source["items"] if item["key"] not in contents]
        if missing and not source.get("optional"):
            raise LocalError(f"pod {self._pod.name}: volume {volume} needs key {missing[0]!r} of {kind}/{name}; it has {sorted(contents)}")
        return {item["path"]: contents[item["key"]] for item in source["items"] if item["key"] in contents}


class PathTable:
    """Replaces mount paths by the folders that stand for them."""

    def __init__(self, mounts: Mapping[str, Path]) -> None:
        self._mounts = {path: folder for path, folder in mounts.items() if path != "/"}
        words = "|".join(re.escape(path) for path in sorted(self._mounts, key=len, reverse=True))
        self._pattern = re.compile(rf"(?<![\w./\-])(?P<mount>{words})(?P<rest>(?:/[\w.\-]+)*)(?![\w\-])") if words else None

    def text(self, value: str, *, existing: bool = False) -> str:
        """`value` with its paths replaced; with `existing` only those that lead to a file, as `/config` may also be a URL's path."""

        def replace(match: re.Match[str]) -> str:
            folder = self._mounts[match["mount"]]
            target = folder / match["rest"].lstrip("/")
            if existing and (not match["rest"] or not target.exists()):
                return match[0]
            return f"{folder}{match['rest']}"

        return self._pattern.sub(replace, value) if self._pattern else value


def environment(
    container: Mapping[str, Any], pod: Pod, address: str, documents: Documents, rewrite: Callable[[str], str]
) -> dict[str, str]:
    """The variables a container is given, in the order of its spec; `rewrite` changes addresses and paths in plain values."""
    values: dict[str, str] = {}
    for source in container.get("envFrom") or []:
        kind, reference = ("ConfigMap", source["configMapRef"]) if "configMapRef" in source else ("Secret", source["secretRef"])
        for key, value in (documents.find(kind, pod.namespace, reference["name"]) or {}).items():
            values[f"{source.get('prefix', '')}{key}"] = rewrite(value.decode())
    for entry in container.get("env") or []:
        given = entry.get("valueFrom")
        value = (
            rewrite(expand(entry.get("value") or "", values)) if given is None else _value_from(given, container, pod, address, documents)
        )
        if value is not None:
            values[entry["name"]] = value
    return values


def expand(text: str, variables: Mapping[str, str]) -> str:
    """`$(NAME)` replaced by the variable, `$$` by `$`; a name that is not set stays as written."""
    return REFERENCE.sub(lambda match: "$" if match[0] == "$$" else variables.get(match["name"], match[0]), text)


def field_value(pod: Pod, address: str, path: str) -> str:
    """The value of a downward-API field; raises LocalError for one that a pod does not have."""
    keyed = FIELD_WITH_KEY.match(path)
    if keyed:
        return (pod.labels if keyed["kind"] == "labels" else pod.annotations).get(keyed["key"], "")
    fields = {
        "metadata.name": pod.name,
        "metadata.namespace": pod.namespace,
        "metadata.uid": pod.uid,
        "metadata.labels": "\n".join(f'{key}="{value}"' for key, value in sorted(pod.labels.items())),
        "metadata.annotations": "\n".join(f'{key}="{value}"' for key, value in sorted(pod.annotations.items())),
        "spec.nodeName": "localhost",
        "spec.serviceAccountName": pod.spec.get("serviceAccountName", "default"),
        "status.podIP": address,
        "status.podIPs": address,
        "status.hostIP": address,
    }
    if path not in fields:
        raise LocalError(f"pod {pod.name}: field {path!r} is unknown; allowed are {', '.join(fields)}, metadata.labels['KEY']")
    return fields[path]


def document_rewriter(addresses: AddressTable, paths: PathTable) -> Callable[[str], str]:
    """How the text of a mounted document changes: addresses first, then paths that exist."""
    return lambda text: paths.text(addresses.document(text), existing=True)


def _value_from(given: Mapping[str, Any], container: Mapping[str, Any], pod: Pod, address: str, documents: Documents) -> str | None:
    if "fieldRef" in given:
        return field_value(pod, address, given["fieldRef"]["fieldPath"])
    if "secretKeyRef" in given:
        return _key_of("Secret", given["secretKeyRef"], pod, documents, STAND_IN)
    if "configMapKeyRef" in given:
        return _key_of("ConfigMap", given["configMapKeyRef"], pod, documents, None)
    if "resourceFieldRef" in given:
        section, _, name = given["resourceFieldRef"]["resource"].partition(".")
        return str(((container.get("resources") or {}).get(section) or {}).get(name, ""))
    raise LocalError(f"pod {pod.name}: a variable of container {container['name']} comes from {sorted(given)}, which is not known here")


def _key_of(kind: str, reference: Mapping[str, Any], pod: Pod, documents: Documents, fallback: str | None) -> str | None:
    contents = documents.find(kind, pod.namespace, reference["name"])
    if contents is not None and reference["key"] in contents:
        return contents[reference["key"]].decode()
    if reference.get("optional"):
        return None
    if fallback is None or contents is not None:
        raise LocalError(f"pod {pod.name}: {kind}/{reference['name']} with key {reference['key']!r} is not part of the stack")
    return fallback


def _contents(item: Mapping[str, Any]) -> dict[str, bytes]:
    plain = {key: str(value).encode() for key, value in {**(item.get("data") or {}), **(item.get("stringData") or {})}.items()}
    if item["kind"] == "ConfigMap":
        return plain | {key: base64.b64decode(value) for key, value in (item.get("binaryData") or {}).items()}
    return plain | {key: _decoded(value) for key, value in (item.get("data") or {}).items()}


def _decoded(value: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error:
        return str(value).encode()  # a rendered stack shows a placeholder where the secret was


def _write(target: Path, content: bytes, rewrite: Callable[[str], str]) -> None:
    if PurePosixPath(target.name).name in ("", "..") or ".." in target.parts:
        raise LocalError(f"a volume's file may not leave its folder: {target}")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        target.write_text(rewrite(content.decode()))
    except UnicodeDecodeError:
        target.write_bytes(content)
