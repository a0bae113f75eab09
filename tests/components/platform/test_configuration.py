"""Reading the configuration of a stack from the engine."""

from pathlib import Path

import pytest

from local.record import ProgramError, evaluate
from tests.support.programs import program


def test_every_key_of_the_project_is_read_as_text(tmp_path: Path) -> None:
    body = "from components.platform import configuration\npulumi.export('read', configuration.read())"

    recording = program(tmp_path)(body, {"a": "text", "b": {"c": 1}})

    assert recording.exports["read"] == {"a": "text", "b": '{"c": 1}'}


def test_a_secret_is_an_output_that_stays_secret(tmp_path: Path) -> None:
    body = "from components.platform import configuration\npulumi.export('found', configuration.secret('kubeconfig'))"

    assert program(tmp_path)(body, secrets={"kubeconfig": "x"}).exports == {"found": "[secret]"}


def test_other_keys_are_no_secrets(tmp_path: Path) -> None:
    body = "from components.platform import configuration\nconfiguration.secret('topology')"

    with pytest.raises(ProgramError, match="topology is no secret key"):
        program(tmp_path)(body)


def test_without_a_token_the_program_says_how_to_give_one() -> None:
    with pytest.raises(ProgramError) as caught:
        evaluate({}, stack="dev", secrets={})

    assert str(caught.value).startswith("Pulumi.dev.yaml: multimodal-serving:huggingFaceToken: missing; run `pulumi config set --secret")


def test_with_an_existing_secret_no_token_is_asked_for() -> None:
    recording = evaluate({"huggingFace": {"existingSecret": "mine"}}, stack="dev", secrets={})

    assert not [item for item in recording.objects if item["kind"] == "Secret"]


def test_a_typo_in_the_stack_file_is_found_by_the_program_too() -> None:
    with pytest.raises(ProgramError, match=r"Pulumi\.dev\.yaml: multimodal-serving:topologi: unknown key; did you mean topology\?"):
        evaluate({"topologi": "aggregation"}, stack="dev")


def test_configuration_in_the_environment_is_read_as_the_language_host_passes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_CONFIG", '{"multimodal-serving:topologi": "x", "gcp:project": "p"}')

    with pytest.raises(ProgramError, match="topologi: unknown key"):
        evaluate({}, stack="dev")
