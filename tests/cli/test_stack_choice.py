"""`--stack` and `--set`."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.stack_choice import UsageError, choose, parse_assignment, read_stack_file


def stack_file(folder: Path, text: str, name: str = "dev") -> None:
    (folder / f"Pulumi.{name}.yaml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("assignment", "path", "value"),
    [
        ("topology=e-pd", ["topology"], "e-pd"),
        ("multimodal-serving:provider=gke", ["provider"], "gke"),
        ("router.service.type=LoadBalancer", ["router", "service", "type"], "LoadBalancer"),
        ("tiers.decode.replicas=2", ["tiers", "decode", "replicas"], 2),
        ("router.pool.create=false", ["router", "pool", "create"], False),
        ("monitoring=true", ["monitoring"], True),
        ("tiers.decode.extraArgs=[--a, --b=1]", ["tiers", "decode", "extraArgs"], ["--a", "--b=1"]),
        ('router.service={"type": "LoadBalancer"}', ["router", "service"], {"type": "LoadBalancer"}),
        ("tiers.decode.env.COUNT=8", ["tiers", "decode", "env", "COUNT"], "8"),
        ("tiers.decode.env.FLAG=true", ["tiers", "decode", "env", "FLAG"], "true"),
        ("tiers.decode.env.A=b=c", ["tiers", "decode", "env", "A"], "b=c"),
        ("tiers.decode.nodeSelector.cloud.google.com/gke-pool=a", ["tiers", "decode", "nodeSelector", "cloud.google.com/gke-pool"], "a"),
        ("router.proxy.image=envoy:v1.40", ["router", "proxy", "image"], "envoy:v1.40"),
        ("releaseName=007", ["releaseName"], "007"),
        ("model=Qwen/Qwen3-VL-32B-Instruct", ["model"], "Qwen/Qwen3-VL-32B-Instruct"),
    ],
)
def test_an_assignment_is_read_as_its_key_expects(assignment: str, path: list[str], value: object) -> None:
    _, found_path, found_value = parse_assignment(assignment)

    assert (found_path, found_value) == (path, value)


@pytest.mark.parametrize(
    ("assignment", "text"),
    [
        ("topology", "expected KEY=VALUE"),
        ("=x", "expected KEY=VALUE"),
        ("tiers.decode.extraArgs=[", "not valid YAML or JSON"),
        ("huggingFaceToken=hf_x", "a secret"),
        ("topologi=x", "did you mean topology?"),
        ("router.service.typ=LoadBalancer", "did you mean type?"),
        ("tiers.decode.replica=2", "did you mean replicas?"),
        ("tiers.decode.replicas=many", "tiers.decode.replicas: many: input should be a valid integer"),
        ("tiers.decode.replicas=", "--set tiers.decode.replicas=: the value is empty"),
        ("tiers.decode.extraArgs= ", "the value is empty"),
        pytest.param("tiers.decode.extraArgs=" + "[" * 5000, "not valid YAML or JSON: maximum recursion depth", id="deep"),
        ("topology=ring", "allowed are 'aggregation', 'e-pd' or 'e-p-d'"),
        ("router.service.type.x=1", "--set"),
        ("topology=e-pd", "not yet"),
        ("tiers.decode.sharedMemory=300Gi", "shared memory counts against"),
    ],
)
def test_a_wrong_assignment_has_one_message(assignment: str, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        choose(None, [assignment])

    message = str(caught.value)
    assert message.startswith("--set")
    assert text in message
    assert "\n" not in message


def test_a_later_assignment_wins_and_neighbours_stay() -> None:
    config = choose(None, ["router.proxy.ipv6=false", "tiers.decode.replicas=1", "tiers.decode.replicas=3"]).config

    assert config == {"router": {"proxy": {"ipv6": False}}, "tiers": {"decode": {"replicas": 3}}}


def test_assignments_come_on_top_of_the_file(tmp_path: Path) -> None:
    stack_file(tmp_path, "config:\n  multimodal-serving:tiers: {decode: {replicas: 4, sharedMemory: 8Gi}}\n")

    choice = choose("dev", ["tiers.decode.replicas=2"], tmp_path)

    assert choice.settings.tiers.decode.replicas == 2
    assert choice.settings.tiers.decode.shared_memory == "8Gi"


def test_keys_below_a_short_form_are_refused(tmp_path: Path) -> None:
    stack_file(tmp_path, "config:\n  multimodal-serving:namespace: here\n")

    with pytest.raises(UsageError, match=r"--set namespace\.create: namespace is a plain value here"):
        choose("dev", ["namespace.create=false"], tmp_path)


def test_other_projects_and_the_engine_s_own_keys_are_ignored(tmp_path: Path) -> None:
    stack_file(tmp_path, "config:\n  gcp:project: p\n  pulumi:disable-default-providers: [gcp]\n  multimodal-serving:provider: gke\n")

    assert choose("dev", [], tmp_path).config == {"provider": "gke"}


@pytest.mark.parametrize("text", ["", "config:\n", "encryptionsalt: v1:abc\n"])
def test_an_empty_stack_file_means_the_defaults(tmp_path: Path, text: str) -> None:
    stack_file(tmp_path, text)

    assert choose("dev", [], tmp_path).config == {}


def test_encrypted_secrets_are_replaced_by_stand_ins(tmp_path: Path) -> None:
    stack_file(
        tmp_path, "config:\n  multimodal-serving:huggingFaceToken: {secure: v1:abc}\n  multimodal-serving:kubeconfig: {secure: v1:d}\n"
    )

    choice = choose("dev", [], tmp_path)

    assert choice.config == {}
    assert choice.secrets == {"huggingFaceToken": "stand-in"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("config: [", "Pulumi.dev.yaml: not valid YAML: "),
        ("config:\n  topology: aggregation\n  topology: e-pd\n", "Pulumi.dev.yaml: not valid YAML: the key 'topology' is given twice"),
        pytest.param("[" * 5000, "Pulumi.dev.yaml: not valid YAML: maximum recursion depth", id="deep"),
        ("config: 3", "Pulumi.dev.yaml: must be a mapping"),
        ("- a", "Pulumi.dev.yaml: must be a mapping"),
        ("\x01", "Pulumi.dev.yaml: not valid YAML: "),
        ("config: {multimodal-serving:topology: ring}", "Pulumi.dev.yaml: multimodal-serving:topology: ring: not allowed"),
        (
            "config: {multimodal-serving:topologi: e-pd}",
            "Pulumi.dev.yaml: multimodal-serving:topologi: unknown key; did you mean topology?",
        ),
        (
            "config: {multimodal-serving:huggingFaceToken: hf_plain}",
            "Pulumi.dev.yaml: multimodal-serving:huggingFaceToken: stored in plain text",
        ),
        ("config: {multimodal-serving:topology: {secure: x}}", "Pulumi.dev.yaml: multimodal-serving:topology: is encrypted"),
    ],
)
def test_a_broken_stack_file_is_named(tmp_path: Path, text: str, expected: str) -> None:
    stack_file(tmp_path, text)

    with pytest.raises(UsageError) as caught:
        choose("dev", [], tmp_path)

    assert str(caught.value).startswith(expected)
    assert "\n" not in str(caught.value)
    assert "hf_plain" not in str(caught.value)


def test_a_missing_stack_is_named_with_those_there_are(tmp_path: Path) -> None:
    stack_file(tmp_path, "", "one")
    stack_file(tmp_path, "", "two")

    with pytest.raises(UsageError, match=r"Pulumi\.three\.yaml: no such stack; there are: one, two"):
        read_stack_file("three", tmp_path)


def test_an_error_names_the_file_or_the_command_line_whichever_holds_the_value(tmp_path: Path) -> None:
    stack_file(tmp_path, "config: {multimodal-serving:topology: ring}")

    with pytest.raises(UsageError) as caught:
        choose("dev", ["accelerator=npu"], tmp_path)

    assert [line.split(": ")[0] for line in str(caught.value).splitlines()] == ["Pulumi.dev.yaml", "--set"]


values: st.SearchStrategy[Any] = st.one_of(st.text(max_size=20), st.sampled_from(["1", "true", "[1]", "{a: 1}", "null", "- x"]))


@given(st.from_regex(r"(router|tiers|topology|model|monitoring)(\.[a-zA-Z]{1,8}){0,3}", fullmatch=True), values)
def test_any_assignment_is_taken_or_refused_with_a_message(key: str, value: str) -> None:
    try:
        choose(None, [f"{key}={value}"])
    except UsageError as error:
        message = str(error)
    else:
        message = "taken"

    assert message
