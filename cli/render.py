"""`mmserve render`: the objects of a stack, without a cluster and without credentials."""

import json
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any

import typer
import yaml

from cli.stack_choice import choose
from local.record import Recorded, Recording, evaluate


class Format(StrEnum):
    """How objects are printed."""

    YAML = "yaml"
    JSON = "json"
    TREE = "tree"


def render(
    stack: Annotated[str | None, typer.Option(help="Read Pulumi.<NAME>.yaml; without it the defaults.", metavar="NAME")] = None,
    assignments: Annotated[
        list[str] | None, typer.Option("--set", help="Override one key, for example router.service.type=LoadBalancer.", metavar="KEY=VALUE")
    ] = None,
    output: Annotated[
        Format, typer.Option("--format", help="yaml and json can be applied; tree shows what belongs to what.")
    ] = Format.YAML,
    everything: Annotated[bool, typer.Option("--all", help="Add cloud and provider resources, with their options.")] = False,
) -> None:
    """Print the objects of a stack, sorted and stable, secrets replaced.

    Example: mmserve render --stack gke --set tiers.decode.replicas=2 --format tree
    """
    choice = choose(stack, assignments or [])
    recording = evaluate(choice.config, stack=choice.stack, secrets=choice.secrets)
    typer.echo(rendered(recording, output, everything), nl=False)


def rendered(recording: Recording, output: Format, everything: bool = False) -> str:
    """The text of a recording."""
    objects = [ordered(item) for item in recording.objects]
    others = [_summary(item) for item in sorted(recording.resources, key=lambda r: (r.type, r.name)) if _is_other(item)]
    if output is Format.TREE:
        return "".join(f"{line}\n" for line in _tree(recording, everything))
    if output is Format.JSON:
        document: dict[str, Any] = {"apiVersion": "v1", "kind": "List", "items": objects}
        return json.dumps({**document, "resources": others} if everything else document, indent=2, ensure_ascii=False) + "\n"
    documents = [*objects, *others] if everything else objects
    return yaml.dump_all(documents, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000, explicit_start=True)


def ordered(value: Any) -> Any:
    """Keys in a fixed order at every depth: a manifest's own first, the rest by name."""
    if isinstance(value, dict):
        first = [key for key in ("apiVersion", "kind", "metadata", "name") if key in value]
        return {key: ordered(value[key]) for key in [*first, *sorted(value.keys() - set(first))]}
    if isinstance(value, list):
        return [ordered(item) for item in value]
    return value


def _is_other(item: Recorded) -> bool:
    return item.custom and item.manifest is None


def _summary(item: Recorded) -> dict[str, Any]:
    return {"type": item.type, "name": item.name, "inputs": ordered(item.inputs), "options": ordered(item.options)}


def _tree(recording: Recording, everything: bool) -> Iterator[str]:
    """Components with what they hold, by name; providers only when asked for."""
    shown = [item for item in recording.resources if everything or not _is_other(item)]
    known = {item.urn for item in shown}
    below: dict[str, list[Recorded]] = {}
    for item in sorted(shown, key=_label):
        below.setdefault(item.parent if item.parent in known else "", []).append(item)

    def lines(parent: str, indent: str) -> Iterator[str]:
        children = below.get(parent, [])
        for index, child in enumerate(children, 1):
            last = index == len(children)
            yield f"{indent}{'└─ ' if last else '├─ '}{_label(child)}"
            yield from lines(child.urn, indent + ("   " if last else "│  "))

    yield "stack"
    yield from lines("", "")


def _label(item: Recorded) -> str:
    manifest = item.manifest
    if manifest is None:
        return f"{item.name}  ({item.type})"
    return f"{manifest['kind']}/{manifest['metadata']['name']}"


class _Dumper(yaml.SafeDumper):
    """Documents inside strings stay readable: several lines become a literal block."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)
