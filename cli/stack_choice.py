"""From `--stack` and `--set` to the configuration of one evaluation, checked before the program runs.

Shared by every command that looks at a stack. Nothing here needs credentials: encrypted values are replaced by stand-ins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import yaml
from pydantic import BaseModel

from components.plan.topologies import tiers
from components.settings.complaints import PREFIX, SettingsError, section_of
from components.settings.stack import SECRET_KEYS, StackSettings, load
from local.record import stand_in_secrets

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_STACK = "default"  # what an evaluation without a stack file is called


class UsageError(Exception):
    """What the user typed or wrote cannot be used; the text says where and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StackChoice:
    """One stack as the recorder takes it, and as the settings read it."""

    stack: str
    config: dict[str, Any]
    secrets: dict[str, str]
    settings: StackSettings


def choose(stack: str | None, assignments: Sequence[str], directory: Path = ROOT) -> StackChoice:
    """Read `Pulumi.<stack>.yaml` (none without a stack), apply `KEY=VALUE` assignments, check. Raises UsageError."""
    file = f"Pulumi.{stack or DEFAULT_STACK}.yaml"
    config = {} if stack is None else read_stack_file(stack, directory)
    assigned: list[str] = []
    for assignment in assignments:
        key, path, value = parse_assignment(assignment)
        _assign(config, path, value, key)
        assigned.append(key)
    try:
        settings = load(config)
        tiers(settings)
    except SettingsError as error:
        raise UsageError("\n".join(f"{_source(line, assigned, file)}: {line}" for line in error.lines)) from None
    return StackChoice(stack=stack or DEFAULT_STACK, config=config, secrets=stand_in_secrets(config), settings=settings)


class _StrictLoader(yaml.SafeLoader):
    """Refuses a key given twice, as the Pulumi command line does; plain YAML would take the last value silently."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[object] = set()
        for key, _ in node.value:
            if key.value in seen and isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, f"the key {key.value!r} is given twice", key.start_mark)
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else id(key))
        return super().construct_mapping(node, deep)


def read_stack_file(stack: str, directory: Path) -> dict[str, Any]:
    """The project's keys of a stack file, without their prefix and without secrets. Raises UsageError."""
    path = directory / f"Pulumi.{stack}.yaml"
    try:
        document: object = yaml.load(path.read_text(encoding="utf-8"), Loader=_StrictLoader)  # noqa: S506 - a safe loader
    except FileNotFoundError:
        raise UsageError(f"{path.name}: no such stack; there are: {_stacks(directory)}") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path.name}: not valid YAML: {_one_line(error)}") from None
    except OSError as error:
        raise UsageError(f"{path.name}: cannot be read: {error.strerror}") from None
    config = {} if document is None else document.get("config", {}) if isinstance(document, dict) else None
    if config is None and isinstance(document, dict):
        config = {}
    if not isinstance(config, dict):
        raise UsageError(f"{path.name}: must be a mapping with a mapping under `config:`")
    return dict(_own_keys(config, path.name))


def _own_keys(config: Mapping[Any, Any], file: str) -> list[tuple[str, Any]]:
    own: list[tuple[str, Any]] = []
    for full, value in config.items():
        namespace, _, key = str(full).rpartition(":")
        if namespace not in ("", PREFIX):
            continue
        encrypted = isinstance(value, dict) and "secure" in value
        if key in SECRET_KEYS:
            if not encrypted:
                raise UsageError(f"{file}: {PREFIX}:{key}: stored in plain text; use `pulumi config set --secret {key}`")
        elif encrypted:
            raise UsageError(f"{file}: {PREFIX}:{key}: is encrypted; secrets are {' and '.join(SECRET_KEYS)} only")
        else:
            own.append((key, value))
    return own


def parse_assignment(assignment: str) -> tuple[str, list[str], Any]:
    """`a.b.c=VALUE` as its key, its path and its value: text where text is expected, else YAML (JSON included)."""
    key, separator, text = assignment.partition("=")
    key = key.strip().removeprefix(f"{PREFIX}:")
    if not separator or not key:
        raise UsageError(f"--set {assignment}: expected KEY=VALUE, for example --set router.service.type=LoadBalancer")
    if key.split(".")[0] in SECRET_KEYS:
        raise UsageError(
            f"--set {key}: a secret; looking at a stack needs none, deploying reads it from the stack's encrypted configuration"
        )
    path, annotation = _walk(key)
    if _takes_text(annotation):
        return key, path, text
    if not text.strip():
        raise UsageError(f"--set {key}=: the value is empty; `null` means the default")
    try:
        return key, path, yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"--set {key}: the value is not valid YAML or JSON: {_one_line(error)}") from None


def _walk(key: str) -> tuple[list[str], Any]:
    """The path a dotted key means, and the type found there. Below a map the rest is one key: label names have dots."""
    model: type[BaseModel] | None = StackSettings
    annotation: Any = None
    parts = key.split(".")
    for index, part in enumerate(parts):
        if get_origin(annotation) is dict:
            return [*parts[:index], ".".join(parts[index:])], get_args(annotation)[1]
        fields = {field.alias or name: field for name, field in model.model_fields.items()} if model is not None else {}
        if part not in fields:
            return parts, None  # the settings say what is wrong with it
        annotation = fields[part].annotation
        model = section_of(annotation)
    return parts, annotation


def _takes_text(annotation: Any) -> bool:
    """Whether a plain text belongs there: `str`, one of several words, either of them or nothing."""
    origin = get_origin(annotation)
    if origin is Literal:
        return True
    if origin in (Union, UnionType, Annotated):
        return any(_takes_text(part) for part in get_args(annotation))
    return annotation is str


def _assign(config: dict[str, Any], path: Sequence[str], value: Any, key: str) -> None:
    current = config
    for depth, part in enumerate(path[:-1], 1):
        below = current.get(part, {})
        if not isinstance(below, dict):
            raise UsageError(f"--set {key}: {'.'.join(path[:depth])} is a plain value here and has no keys below it")
        current[part] = dict(below)
        current = current[part]
    current[path[-1]] = value


def _source(line: str, assigned: Sequence[str], file: str) -> str:
    """Where the wrong value came from: the command line or the file."""
    key = line.removeprefix(f"{PREFIX}:").split(":", 1)[0]
    from_command_line = any(key == name or key.startswith(f"{name}.") or name.startswith(f"{key}.") for name in assigned)
    return "--set" if from_command_line else file


def _stacks(directory: Path) -> str:
    names = sorted(path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in directory.glob("Pulumi.*.yaml"))
    return ", ".join(names) or "none"


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
