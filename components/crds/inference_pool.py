"""InferencePool v1, as released with version 1.5.0 of the Inference Extension."""

from typing import Any, Final

from components.crds.schema import DNS_SUBDOMAIN, KIND, Schema, array, port, record, rule, text, whole

GROUP: Final = "inference.networking.k8s.io"
NAME: Final = f"inferencepools.{GROUP}"
BUNDLE_VERSION: Final = "v1.5.0"
ANNOTATIONS: Final = {
    "api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/gateway-api-inference-extension/pull/1173",
    f"{GROUP}/bundle-version": BUNDLE_VERSION,
}
LABEL_VALUE: Final = r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"
NAMESPACE: Final = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
REASON: Final = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
CONTROLLER: Final = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9\/\-._~%!$&'()*+,;=:]+$"
CONDITION_TYPE: Final = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"


def spec() -> dict[str, Any]:
    """The definition's spec."""
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": _pool()},
        "subresources": {"status": {}},
    }
    names = {
        "kind": "InferencePool",
        "listKind": "InferencePoolList",
        "plural": "inferencepools",
        "singular": "inferencepool",
        "shortNames": ["infpool"],
    }
    return {"group": GROUP, "names": names, "scope": "Namespaced", "versions": [version]}


def _pool() -> Schema:
    properties = {
        "apiVersion": text("Version of the schema this object is written in."),
        "kind": text("Name of the resource this object stands for; it never changes."),
        "metadata": {"type": "object"},
        "spec": _spec(),
        "status": _status(),
    }
    return record("A set of pods that serve one model, and the engine that picks among them.", properties, ["spec"])


def _spec() -> Schema:
    protocol = text("What all target ports speak: HTTP/1.1, or HTTP/2 in clear text.", default="http", enum=["http", "kubernetes.io/h2c"])
    ports = array(
        "Ports of each pod that take requests; every port of every pod is an endpoint of its own.",
        port("One port."),
        "atomic",
        minItems=1,
        maxItems=8,
        **{"x-kubernetes-validations": [rule("self.all(p1, self.exists_one(p2, p1.number==p2.number))", "port number must be unique")]},
    )
    properties = {
        "appProtocol": protocol,
        "endpointPickerRef": _endpoint_picker(),
        "selector": _selector(),
        "targetPorts": ports,
    }
    return record("Which pods belong to the pool and who picks among them.", properties, ["endpointPickerRef", "selector", "targetPorts"])


def _selector() -> Schema:
    labels = {
        "type": "object",
        "description": "Labels that a pod must carry, all of them.",
        "minProperties": 1,
        "maxProperties": 64,
        "additionalProperties": text("A label's value.", minLength=0, maxLength=63, pattern=LABEL_VALUE),
    }
    return record("Chooses pods of the pool's own namespace by their labels.", {"matchLabels": labels}, ["matchLabels"])


def _endpoint_picker() -> Schema:
    properties = {
        "failureMode": text(
            "What a gateway does while the picker does not answer: send requests anywhere, or refuse them.",
            default="FailClose",
            enum=["FailOpen", "FailClose"],
        ),
        "group": text(
            "API group of the picker's object; empty for the core group.", default="", maxLength=253, minLength=0, pattern=DNS_SUBDOMAIN
        ),
        "kind": text(
            "Kind of the picker's object. A Service of type ExternalName must not be used.",
            default="Service",
            maxLength=63,
            minLength=1,
            pattern=KIND,
        ),
        "name": text("Name of the picker's object.", maxLength=253, minLength=1),
        "port": port("The Service's own port, not the pods'."),
    }
    needs_port = rule(
        "self.kind != 'Service' || has(self.port)", "port is required when kind is 'Service' or unspecified (defaults to 'Service')"
    )
    return record("The engine that picks an endpoint for each request.", properties, ["name"], **{"x-kubernetes-validations": [needs_port]})


def _status() -> Schema:
    properties = {
        "conditions": array(
            "What the controller found, by type: Accepted, ResolvedRefs.",
            _condition(),
            "map",
            maxItems=8,
            **{"x-kubernetes-list-map-keys": ["type"]},
        ),
        "controllerName": text("Who wrote this entry, as a domain and a path.", maxLength=253, minLength=1, pattern=CONTROLLER),
        "parentRef": _parent(),
    }
    parent = record("The pool as one parent, usually a Gateway, sees it.", properties, ["parentRef"])
    parents = array("An entry for each parent that uses the pool; empty while none does.", parent, "atomic", maxItems=32)
    return record("What controllers observed.", {"parents": parents})


def _parent() -> Schema:
    properties = {
        "group": text("API group of the parent.", default="gateway.networking.k8s.io", maxLength=253, minLength=0, pattern=DNS_SUBDOMAIN),
        "kind": text("Kind of the parent.", default="Gateway", maxLength=63, minLength=1, pattern=KIND),
        "name": text("Name of the parent.", maxLength=253, minLength=1),
        "namespace": text("Namespace of the parent; the pool's own when empty.", maxLength=63, minLength=1, pattern=NAMESPACE),
    }
    return record("The parent this entry is about.", properties, ["name"])


def _condition() -> Schema:
    properties = {
        "lastTransitionTime": text("When the status last changed.", format="date-time"),
        "message": text("Details for people; may be empty.", maxLength=32768),
        "observedGeneration": whole("The generation of the object that this was found for.", format="int64", minimum=0),
        "reason": text("Why, as one word for programs.", maxLength=1024, minLength=1, pattern=REASON),
        "status": text("Whether the condition holds.", enum=["True", "False", "Unknown"]),
        "type": text("Which condition this is.", maxLength=316, pattern=CONDITION_TYPE),
    }
    return record("One finding.", properties, ["lastTransitionTime", "message", "reason", "status", "type"])
