"""Our renders against the reference, field by field; every difference has a rule with a reason in tests/golden/deviations.yaml.

A failing case prints the differences without a rule. Either they are a mistake, or they are meant and need a rule.
"""

import fnmatch
import functools
import importlib.util
import sys
from types import ModuleType
from typing import Any

import pytest
import yaml

from cli.stack_choice import choose
from local.record import evaluate
from tests.support.recordings import ROOT, assignments, documents, reference_folder

REFERENCE = reference_folder()
CASES: list[dict[str, Any]] = yaml.safe_load((ROOT / "tests/fidelity/cases.yaml").read_text(encoding="utf-8"))
RULES: list[dict[str, str]] = yaml.safe_load((ROOT / "tests/golden/deviations.yaml").read_text(encoding="utf-8"))
OURS_ALONE = ("Namespace/*", "Secret/llm-d-hf-token", "CustomResourceDefinition/*")  # the guide makes these by hand
MODEL_SERVERS = ("*/mm-baseline-*",)
ROUTER = ("*/multimodal-serving*", "ConfigMap/envoy", "*/mm-baseline-*")

pytestmark = pytest.mark.skipif(
    not REFERENCE.is_dir(), reason=f"no reference folder at {REFERENCE} (REFERENCE_DIR names it); renders are compared where it exists"
)


def case_id(case: dict[str, Any]) -> str:
    return case["reference"].removesuffix(".yaml")


@functools.cache
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("compare_objects", REFERENCE.parent / "tools" / "compare_objects.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def key(item: dict[str, Any]) -> str:
    return f"{item['kind']}/{item['metadata']['name']}"


def matches(text: str, patterns: list[str] | tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns)


@functools.cache
def rendered(index: int) -> list[dict[str, Any]]:
    choice = choose(None, assignments(CASES[index]["settings"]))
    return evaluate(choice.config, stack=choice.stack).objects


@functools.cache
def compared(index: int) -> tuple[list[str], frozenset[int]]:
    """The differences that no rule explains, and the rules that were needed."""
    case = CASES[index]
    expected = [item for item in documents(REFERENCE / case["reference"]) if matches(key(item), case["only"])]
    known = {key(item) for item in expected}
    actual = [item for item in rendered(index) if key(item) in known]
    unexplained: list[str] = []
    used: set[int] = set()
    for name, sign, path, was, now in tool().differences(expected, actual):
        rule = next((i for i, r in enumerate(RULES) if explains(r, name, path)), None)
        if rule is None:
            unexplained.append(f"{sign} {name}  {path}: {was!r} -> {now!r}")
        else:
            used.add(rule)
    return unexplained, frozenset(used)


def explains(rule: dict[str, str], name: str, path: str) -> bool:
    return fnmatch.fnmatchcase(name, rule["object"]) and fnmatch.fnmatchcase(path, rule["path"].replace("[", "[[]"))


@pytest.mark.parametrize("index", range(len(CASES)), ids=[case_id(case) for case in CASES])
def test_render_equals_the_reference_but_for_explained_deviations(index: int) -> None:
    unexplained, _ = compared(index)

    assert unexplained == [], "\n".join(unexplained)


@pytest.mark.parametrize("index", range(len(CASES)), ids=[case_id(case) for case in CASES])
def test_render_has_no_object_that_the_reference_lacks(index: int) -> None:
    """A reference file shows the router or the model servers; the other half comes from the files with the same settings."""
    same_settings = [case for case in CASES if case["settings"] == CASES[index]["settings"]]
    expected = {key(item) for case in same_settings for item in documents(REFERENCE / case["reference"])}
    other_half = MODEL_SERVERS if CASES[index]["reference"].startswith("golden-router/") else ROUTER

    extra = {key(item) for item in rendered(index)} - expected

    assert {name for name in extra if not matches(name, OURS_ALONE + other_half)} == set()


@pytest.mark.parametrize("rule", RULES, ids=[f"{r['object']} {r['path']}"[-70:] for r in RULES])
def test_rule_has_a_reason(rule: dict[str, str]) -> None:
    assert rule["reason"].strip()
    assert set(rule) == {"object", "path", "reason"}


def test_every_rule_is_needed_by_a_case() -> None:
    used = frozenset[int]().union(*(compared(index)[1] for index in range(len(CASES))))

    unused = [RULES[index] for index in range(len(RULES)) if index not in used]

    assert unused == [], f"remove these rules: {unused}"


def test_the_tool_itself_agrees(tmp_path: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The command-line comparison, as a person runs it, ends with success on the default stack."""
    index = next(i for i, case in enumerate(CASES) if case["reference"] == "golden-router/standalone-aggregation.yaml")
    actual = tmp_path / "actual.yaml"
    actual.write_text(yaml.safe_dump_all(rendered(index)), encoding="utf-8")
    deviations = str(ROOT / "tests/golden/deviations.yaml")
    arguments = [str(REFERENCE / CASES[index]["reference"]), str(actual), "--deviations", deviations, "--only-expected"]
    monkeypatch.setattr(sys, "argv", ["compare_objects.py", *arguments])

    with pytest.raises(SystemExit) as stopped:
        tool().main()

    assert stopped.value.code == 0, capsys.readouterr().out
