"""Errors as a user reads them."""

from typing import Any

import pytest

from components.settings.complaints import SettingsError, decoded, section_of
from components.settings.router import RouterSettings, ServiceSettings
from components.settings.stack import load


def lines(values: dict[str, Any]) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        load(values)
    return caught.value.lines


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"topology": "ring"}, "multimodal-serving:topology: ring: not allowed; allowed are 'aggregation', 'e-pd' or 'e-p-d'"),
        ({"tiers": {"decode": {"replicas": 0}}}, "multimodal-serving:tiers.decode.replicas: 0: input should be greater than or equal to 1"),
        (
            {"router": {"service": {"typ": "x"}}},
            "multimodal-serving:router.service.typ: unknown key; did you mean type? allowed are annotations, internal, port, type",
        ),
        ({"huggingFace": []}, "multimodal-serving:huggingFace: []: must be a mapping; keys are existingSecret"),
        ({"tiers": {"decode": {"extraArgs": "--x"}}}, "multimodal-serving:tiers.decode.extraArgs: --x: input should be a list"),
        (
            {"tiers": {"decode": {"resources": {"requests": {"cpu": 2}, "limits": {"cpu": 1}}}}},
            "multimodal-serving:tiers.decode.resources: ",
        ),
        (
            {"router": {"flags": {"v": "3"}}},
            "multimodal-serving:router.flags.v: 3: this flag follows from other settings",
        ),
        (
            {"tiers": {"decode": {"extraArgs": ["--port=1"]}}},
            "multimodal-serving:tiers.decode.extraArgs: --port=1: --port has a setting of its own or follows from the topology",
        ),
    ],
    ids=["word", "number", "typo", "kind", "list", "rule", "flag", "argument"],
)
def test_a_line_names_key_value_and_what_is_allowed(values: dict[str, Any], expected: str) -> None:
    (line,) = lines(values)

    assert line.startswith(expected)


def test_a_typo_of_a_secret_key_is_recognised() -> None:
    (line,) = lines({"huggingFaceTokn": "hf_secret"})

    assert "did you mean huggingFaceToken?" in line
    assert "hf_secret" not in line


def test_every_wrong_value_has_its_line() -> None:
    assert len(lines({"topology": "x", "accelerator": "y", "namespace": "Z"})) == 3


def test_long_values_are_cut() -> None:
    (line,) = lines({"topology": "x" * 500})

    assert len(line) < 250


def test_lines_are_located_in_a_file() -> None:
    assert SettingsError(["a", "b"]).located("Pulumi.dev.yaml") == "Pulumi.dev.yaml: a\nPulumi.dev.yaml: b"


@pytest.mark.parametrize(("text", "expected"), [('{"a": 1}', {"a": 1}), ("[1]", [1]), ("plain", "plain"), ("{broken", "{broken"), (7, 7)])
def test_objects_reach_a_program_as_json(text: object, expected: object) -> None:
    assert decoded(text) == expected


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (ServiceSettings, ServiceSettings),
        (ServiceSettings | None, ServiceSettings),
        (tuple[RouterSettings, ...], RouterSettings),
        (str, None),
        (dict[str, int], None),
    ],
)
def test_the_section_inside_an_annotation(annotation: Any, expected: Any) -> None:
    assert section_of(annotation) is expected
