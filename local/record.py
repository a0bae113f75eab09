"""Evaluates the Pulumi program of this repository in this process and records what it registers.

No engine, no cluster and no credentials take part: a recording monitor stands in for the engine and answers each
registration with the inputs plus the few values a cluster would compute. `mmserve render` prints a recording, the
local runner plays it, tests assert on it. The private parts of the SDK are used in this file alone.
"""

import asyncio
import contextvars
import json
import logging
import os
import runpy
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pulumi
from google.protobuf import json_format
from pulumi.runtime import mocks as sdk_mocks
from pulumi.runtime import settings as sdk_settings
from pulumi.runtime.config import set_all_config
from pulumi.runtime.stack import run_in_stack

PROJECT = "multimodal-serving"  # the name in Pulumi.yaml, which is also the namespace of its configuration keys
PROGRAM = Path(__file__).resolve().parent.parent / "__main__.py"
SECRET = "[secret]"  # noqa: S105 - shown in place of every value that is marked as a secret
UNKNOWN = "[unknown]"  # shown in place of a value that only an update would know
STAND_IN_TOKEN = "stand-in"  # noqa: S105 - looking at a stack needs no token
CLUSTER_IP = "10.96.0.80"  # what the recorded cluster gives to each Service
LOAD_BALANCER_IP = "192.0.2.80"  # an address reserved for documentation

_ONE_AT_A_TIME = threading.Lock()  # parts of the SDK's state belong to the process, so evaluations take turns
_SIGNATURE = "4dabf18193072939515e22adb298388d"  # the key by which the engine marks special values
_SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - the mark itself
_UNKNOWNS = frozenset({"04da6b54-80e4-46f7-96ec-b56ff0331ba9", "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7"})  # text, number


class ProgramError(Exception):
    """The program refused its configuration or failed; the text is meant for the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One registered resource. `inputs` is plain data without secrets; `raw` still holds the secret markers and their values."""

    urn: str
    type: str
    name: str
    parent: str
    custom: bool
    inputs: dict[str, Any]
    raw: dict[str, Any]
    options: dict[str, Any]

    @property
    def manifest(self) -> dict[str, Any] | None:
        """The Kubernetes object of this resource, or None where it is something else."""
        if not self.type.startswith("kubernetes:") or "kind" not in self.inputs:
            return None
        return {key: self.inputs[key] for key in sorted(self.inputs, key=_manifest_order)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What one evaluation registered, in order of registration, and the outputs of the stack."""

    resources: list[Recorded]
    exports: dict[str, Any]
    raw_exports: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The Kubernetes objects as manifests (plain data, secrets replaced), sorted by kind, namespace and name."""
        return sorted((m for r in self.resources if (m := r.manifest) is not None), key=_object_order)


def stand_in_secrets(config: Mapping[str, object]) -> dict[str, str]:
    """Secrets with which a stack can be looked at without having any: the token, unless the stack names an existing Secret."""
    hugging_face = config.get("huggingFace")
    named = isinstance(hugging_face, Mapping) and "existingSecret" in hugging_face
    return {} if named else {"huggingFaceToken": STAND_IN_TOKEN}


def evaluate(
    config: Mapping[str, object], *, stack: str, secrets: Mapping[str, str] | None = None, preview: bool = False, program: Path = PROGRAM
) -> Recording:
    """Run the program with `config` (keys without the project's prefix, plain values) and return what it registered.

    `secrets` are configuration values marked as secret; None takes stand-ins. Each call is isolated: own thread, own
    context, own event loop, one at a time. Raises ProgramError when the program refuses or fails.
    """
    chosen = stand_in_secrets(config) if secrets is None else secrets
    monitor = _Monitor(_Cluster(preview), preview)
    values = {f"{PROJECT}:{key}": value if isinstance(value, str) else json.dumps(value) for key, value in {**config, **chosen}.items()}
    secret_keys = [f"{PROJECT}:{key}" for key in chosen]

    def prepare() -> None:
        sdk_settings.set_root_resource(cast("pulumi.Resource", object()))  # keeps set_mocks from making a stack of its own
        set_all_config(values, secret_keys)
        logger = logging.Logger("pulumi")  # belongs to this evaluation, not to the process
        logger.addHandler(logging.NullHandler())
        sdk_mocks.set_mocks(monitor.mocks, project=PROJECT, stack=stack, preview=preview, monitor=monitor, logger=logger)
        sdk_settings.set_root_resource(cast("pulumi.Resource", None))

    _run_isolated(prepare, lambda: _run_program(program))
    return Recording(resources=monitor.recorded, exports=_plain(monitor.exports), raw_exports=monitor.exports)


def _run_program(program: Path) -> None:
    runpy.run_path(str(program), run_name="__main__")


def _run_isolated(prepare: Callable[[], None], program: Callable[[], None]) -> None:
    """Run the program in a thread and a context of its own, so that nothing of the SDK's state outlives the call."""
    failure: list[BaseException] = []

    def run() -> None:
        try:
            contextvars.Context().run(_drive, prepare, program)
        except BaseException as error:  # handed to the caller below
            failure.append(error)

    thread = threading.Thread(target=run, name="pulumi-program")
    with _ONE_AT_A_TIME:
        thread.start()
        thread.join()
    if not failure:
        return
    error = failure[0]
    if isinstance(error, pulumi.RunError):
        raise ProgramError(str(error)) from None
    raise ProgramError(f"the program failed: {type(error).__name__}: {error}") from error


def _drive(prepare: Callable[[], None], program: Callable[[], None]) -> None:
    os.environ.setdefault("PULUMI_ERROR_OUTPUT_STRING", "1")  # an Output in a text is an error, not a strange value
    loop = asyncio.new_event_loop()
    worker_loop = asyncio.new_event_loop()  # the monitor answers in the worker's thread, where the SDK wants a loop, too
    executor = ThreadPoolExecutor(1, initializer=asyncio.set_event_loop, initargs=(worker_loop,))  # one: registrations keep their order
    loop.set_default_executor(executor)
    loop.set_exception_handler(lambda _loop, _context: None)
    asyncio.set_event_loop(loop)
    try:
        prepare()
        loop.run_until_complete(run_in_stack(program))
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        executor.shutdown()
        worker_loop.close()
        loop.close()
        asyncio.set_event_loop(None)


class _Cluster(sdk_mocks.Mocks):
    """Answers a registration as a cluster would: the inputs, and what a server adds to them."""

    def __init__(self, preview: bool) -> None:
        self._preview = preview

    def call(self, args: sdk_mocks.MockCallArgs) -> tuple[dict[str, Any], None]:
        return {}, None

    def new_resource(self, args: sdk_mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        state = dict(args.inputs)
        if self._preview:
            return "", state
        if args.typ == "kubernetes:core/v1:Service":
            spec = dict(state.get("spec") or {})
            spec.setdefault("clusterIP", CLUSTER_IP)
            state["spec"] = spec
            ingress = [{"ip": LOAD_BALANCER_IP}] if spec.get("type") == "LoadBalancer" else []
            state["status"] = {"loadBalancer": {"ingress": ingress}}
        return f"{args.name}-id", state


class _Monitor(sdk_mocks.MockMonitor):
    """Keeps every registration with its options; judging them is left to the reader."""

    def __init__(self, mocks: sdk_mocks.Mocks, preview: bool) -> None:
        super().__init__(mocks)
        self.recorded: list[Recorded] = []
        self.exports: dict[str, Any] = {}
        self._preview = preview

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - the SDK's name
        """Record a registration, then answer it."""
        if request.type != "pulumi:pulumi:Stack":
            raw = _struct(request.object)
            self.recorded.append(
                Recorded(
                    urn=self.make_urn(request.parent, request.type, request.name),
                    type=request.type,
                    name=request.name,
                    parent=request.parent,
                    custom=request.custom,
                    inputs=_plain(raw),
                    raw=raw,
                    options=_options(request),
                )
            )
        return super().RegisterResource(request)

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802 - the SDK's name
        """Record the outputs of the stack."""
        if "::pulumi:pulumi:Stack::" in request.urn:
            self.exports.update(_struct(request.outputs))
        return super().RegisterResourceOutputs(request)


def _options(request: Any) -> dict[str, Any]:
    """The resource options of a registration that differ from their defaults."""
    timeouts = request.customTimeouts
    options: dict[str, Any] = {
        "aliases": [json_format.MessageToDict(alias) for alias in request.aliases],
        "customTimeouts": {k: v for k in ("create", "update", "delete") if (v := getattr(timeouts, k))},
        "deleteBeforeReplace": request.deleteBeforeReplace,
        "deletedWith": request.deletedWith,
        "dependencies": sorted(request.dependencies),
        "ignoreChanges": list(request.ignoreChanges),
        "protect": request.protect,
        "provider": request.provider,
        "providers": dict(request.providers),
        "replaceOnChanges": list(request.replaceOnChanges),
        "retainOnDelete": request.retainOnDelete,
        "additionalSecretOutputs": list(request.additionalSecretOutputs),
        "propertyDependencies": {k: sorted(v.urns) for k, v in request.propertyDependencies.items() if v.urns},
    }
    return {key: value for key, value in options.items() if value}


def _struct(message: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", json_format.MessageToDict(message))


def _plain(value: Any) -> Any:
    """Plain data: secrets and unknown values become constants, whole floats become ints."""
    if isinstance(value, dict):
        if value.get(_SIGNATURE) == _SECRET_SIGNATURE:
            return _redacted(value.get("value"))
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value in _UNKNOWNS:
        return UNKNOWN
    return value


def _redacted(value: Any) -> Any:
    """The shape of a secret value, so that a Secret still shows its keys, with every leaf replaced."""
    if isinstance(value, dict):
        return {key: _redacted(item) for key, item in value.items() if key != _SIGNATURE}
    if isinstance(value, list):
        return [_redacted(item) for item in value]
    return SECRET


def _manifest_order(key: str) -> tuple[int, str]:
    """Kubernetes' usual order of the top-level keys."""
    first = ("apiVersion", "kind", "metadata")
    return (first.index(key) if key in first else len(first), key)


def _object_order(item: Mapping[str, Any]) -> tuple[str, str, str]:
    metadata = item["metadata"]
    return (item["kind"], metadata.get("namespace", ""), metadata["name"])
