"""Workloads of a rendered stack as the pods their controllers would make.

Called by `local.plan`. Names look like those of a ReplicaSet's pods (`workload-templatehash-suffix`) and depend on
nothing but the workload and the pod's number, so that two runs of one stack show the same names.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from local.errors import LocalError

ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # what Kubernetes uses for generated names: no vowels, nothing that looks alike
DEFAULT_REPLICAS = 4  # pods a role, unless asked otherwise: what a laptop carries
HASH_LENGTH = 10
SUFFIX_LENGTH = 5
ROLE_LABEL = "llm-d.ai/role"
TEMPLATE_LABEL = "pod-template-hash"
LATER = frozenset(
    {"StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "ReplicationController", "LeaderWorkerSet", "DisaggregatedSet", "Pod"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """One pod: identity, labels and the `spec` of its template."""

    name: str
    namespace: str
    uid: str
    role: str
    workload: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str] = field(default_factory=dict[str, str])
    spec: Mapping[str, Any]

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def containers(self) -> Sequence[Mapping[str, Any]]:
        """The main containers in the order of the spec."""
        return self.spec["containers"]

    @property
    def init_containers(self) -> Sequence[Mapping[str, Any]]:
        """The init containers in the order of the spec."""
        return self.spec.get("initContainers") or []


def expand(objects: Iterable[Mapping[str, Any]], *, limit: int | None = DEFAULT_REPLICAS, namespace: str = "default") -> list[Pod]:
    """The pods of all workloads among `objects`, in their order; `limit` caps each workload, None takes all replicas.

    `namespace` is that of objects which name none. Raises LocalError for a kind of workload that is not played yet.
    """
    pods: list[Pod] = []
    for item in objects:
        kind = item["kind"]
        if kind in LATER:
            raise LocalError(f"{kind}/{item['metadata']['name']}: not yet played on this machine (Deployment is)")
        if kind == "Deployment":
            pods.extend(_pods_of(item, limit, namespace))
    return pods


def asked_for(objects: Iterable[Mapping[str, Any]]) -> int:
    """How many pods the workloads among `objects` ask for, however many of them are played."""
    return sum(item["spec"].get("replicas", 1) for item in objects if item["kind"] == "Deployment")


def matches(selector: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    """Whether `labels` carry every pair of `selector`; an empty selector matches nothing, as a Service's."""
    return bool(selector) and all(labels.get(key) == value for key, value in selector.items())


def generated(text: str, length: int) -> str:
    """`length` characters of Kubernetes' alphabet for names that follow from `text`."""
    number = int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")
    letters: list[str] = []
    for _ in range(length):
        number, index = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[index])
    return "".join(letters)


def _pods_of(workload: Mapping[str, Any], limit: int | None, default_namespace: str) -> Iterable[Pod]:
    metadata, spec = workload["metadata"], workload["spec"]
    template = spec["template"]
    replicas = spec.get("replicas", 1)
    count = replicas if limit is None else min(replicas, limit)
    namespace = metadata.get("namespace") or default_namespace
    template_metadata = template.get("metadata") or {}
    labels = template_metadata.get("labels") or {}
    digest = generated(json.dumps(template, sort_keys=True), HASH_LENGTH)
    prefix = f"{metadata['name']}-{digest}"
    for number in range(count):
        name = f"{prefix}-{generated(f'{namespace}/{prefix}/{number}', SUFFIX_LENGTH)}"
        yield Pod(
            name=name,
            namespace=namespace,
            uid=_uid(f"{namespace}/{name}"),
            role=labels.get(ROLE_LABEL, "router"),
            workload=metadata["name"],
            labels={**labels, TEMPLATE_LABEL: digest},
            annotations=template_metadata.get("annotations") or {},
            spec=template["spec"],
        )


def _uid(text: str) -> str:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))
