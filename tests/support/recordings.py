"""Evaluations of the program that many tests look at: each stack runs once a process."""

import functools
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from cli.stack_choice import StackChoice, choose
from local.record import Recording, evaluate

ROOT = Path(__file__).resolve().parents[2]
CANARY = "hf_canary-7d1f0c"  # a token that must never be seen outside a secret
# What is looked at everywhere: the stack files, and each variant that the settings offer today.
STACKS: dict[str, tuple[str | None, dict[str, Any]]] = {
    "default": (None, {}),
    "gke": ("gke", {}),
    "monitoring": (None, {"monitoring.enabled": True}),
    "no-pool": (None, {"router.pool.create": False}),
    "plaintext": (None, {"router.secureServing": False}),
    "proxy-service": (None, {"router.proxy.mode": "service"}),
    "load-balancer": ("gke", {"router.service.type": "LoadBalancer", "router.service.internal": True}),
    "existing-secret": (None, {"huggingFace.existingSecret": "hub-token", "namespace.create": False}),
    "everything": (
        None,
        {
            "router.pluginsConfig": {"apiVersion": "llm-d.ai/v1", "kind": "EndpointPickerConfig", "plugins": []},
            "router.flags": {"drain-timeout": "20s"},
            "router.env": {"TZ": "UTC"},
            "router.imagePullSecrets": ["registry"],
            "router.nodeSelector": {"kubernetes.io/os": "linux"},
            "router.tolerations": [{"key": "router", "operator": "Exists"}],
            "tiers.decode.imagePullSecrets": ["registry"],
            "tiers.decode.nodeSelector": {"kubernetes.io/os": "linux"},
            "tiers.decode.tolerations": [{"key": "a", "value": "b", "effect": "NoExecute", "tolerationSeconds": 5}],
            "tiers.decode.volumes": [
                {"name": "weights", "mountPath": "/weights", "claim": "weights", "readOnly": True},
                {"name": "scratch", "mountPath": "/scratch", "sizeLimit": "1Gi"},
            ],
            "tiers.decode.image": "registry.example/vllm@sha256:" + "0" * 64,
        },
    ),
}


def chosen(name: str) -> StackChoice:
    """The choice of a stack of `STACKS`."""
    stack, settings = STACKS[name]
    return choose(stack, assignments(settings))


def assignments(settings: Mapping[str, Any]) -> list[str]:
    """Dotted keys and values as `--set` takes them."""
    return [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in settings.items()]


@functools.cache
def recorded(name: str, preview: bool = False) -> Recording:
    """What the stack registers, with the canary as its token."""
    choice = chosen(name)
    secrets = dict.fromkeys(choice.secrets, CANARY)
    return evaluate(choice.config, stack=choice.stack, secrets=secrets, preview=preview)


@functools.cache
def objects(name: str) -> dict[str, dict[str, Any]]:
    """The stack's objects by Kind/name."""
    return {f"{item['kind']}/{item['metadata']['name']}": item for item in recorded(name).objects}


def reference_folder() -> Path:
    """The folder with reference renders, which need not exist."""
    return Path(os.environ.get("REFERENCE_DIR", ROOT.parent / "shared" / "spec"))


def documents(path: Path) -> list[dict[str, Any]]:
    """The YAML documents of a file."""
    return [document for document in yaml.load_all(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader) if document]
