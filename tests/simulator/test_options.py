from pathlib import Path

import pytest

from simulator.errors import OptionsError
from simulator.options import changed, parse, warn
from simulator.profiles import H200_TP2, PROFILES
from tests.support.simulated import MODEL, options


def test_flags_of_the_aggregated_objects_work_unchanged() -> None:
    made = parse(
        [
            MODEL,
            "--disable-access-log-for-endpoints=/health,/metrics,/v1/models",
            "--tensor-parallel-size=2",
            "--mm-processor-cache-gb",
            "20",
        ],
        {},
    )

    assert made.model == MODEL
    assert made.mm_processor_cache_gb == 20
    assert made.port == 8000
    assert made.profile == H200_TP2
    assert made.warnings == ()


@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        (["--port", "70000"], ["--port", "70000", "0 and 65535"]),
        (["--port", "x"], ["--port", "'x'"]),
        (["--block-size", "0"], ["--block-size", "0"]),
        (["--sim-profile", "slow"], ["--sim-profile", "'slow'", "fast"]),
        (["--sim-output", "poem"], ["--sim-output", "'poem'", "lorem"]),
        (["--sim-output-tokens", "9:3"], ["--sim-output-tokens", "'9:3'", "MIN:MAX"]),
        (["--sim-default-image-size", "big"], ["--sim-default-image-size", "'big'", "WIDTHxHEIGHT"]),
        (["--sim-faults", "{"], ["--sim-faults", "JSON list"]),
        (["--limit-mm-per-prompt", "3"], ["--limit-mm-per-prompt", "'3'", "JSON object"]),
        (["--ec-transfer-config", "{}"], ["--ec-transfer-config", "not yet"]),
        (["--kv-transfer-config={}"], ["--kv-transfer-config", "not yet"]),
        (["--kv-events-config", "{}"], ["--kv-events-config", "not yet"]),
        (["--mm-encoder-only"], ["--mm-encoder-only", "not yet"]),
        (["--typo", "--sim-strict-flags"], ["--typo"]),
        (["--sim-media-tokens", "fixed:0"], ["--sim-media-tokens", "'fixed:0'", "factor:PIXELS_PER_TOKEN"]),
        (["--sim-error-format", "xml"], ["--sim-error-format", "'xml'", "flat"]),
        (["--sim-config", "/nowhere"], ["--sim-config", "/nowhere"]),
    ],
)
def test_a_bad_flag_is_one_message_with_flag_value_and_what_is_allowed(flags: list[str], parts: list[str]) -> None:
    with pytest.raises(OptionsError) as caught:
        options(*flags)

    assert all(part in str(caught.value) for part in parts)
    assert "\n" not in str(caught.value)


def test_a_model_is_needed() -> None:
    with pytest.raises(OptionsError, match="no model given"):
        parse(["serve"], {})


def test_environment_gives_key_seed_and_pod() -> None:
    made = parse([MODEL], {"VLLM_API_KEY": "k", "PYTHONHASHSEED": "3", "POD_NAME": "pod-0"})

    assert (made.api_key, made.hash_seed, made.pod_name) == ("k", "3", "pod-0")


def test_the_first_served_name_stands_for_the_model() -> None:
    assert options("--served-model-name", "a", "b").names == ("a", "b")
    assert options().names == (MODEL,)


def test_single_constants_override_the_profile() -> None:
    made = options("--sim-encode-base", "0.5")

    assert made.profile.encode_base == 0.5
    assert made.profile.step_base == PROFILES["fast"].step_base


def test_unknown_flags_warn(capsys: pytest.CaptureFixture[str]) -> None:
    warn(options("--typo", "x"))

    assert "flag --typo is not known" in capsys.readouterr().err


def test_help_shows_groups_and_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        parse(["--help"], {})

    said = capsys.readouterr().out
    assert left.value.code == 0
    assert "simulation" in said
    assert "example: python -m simulator serve" in said


def test_a_settings_file_gives_flags_and_the_command_line_wins(tmp_path: Path) -> None:
    file = tmp_path / "sim.yaml"
    file.write_text("profile: fast\noutput: echo\ndecode_base: 0.5\nresponse-headers: true\nfaults: [{effect: {kind: stall}}]\n")
    made = options("--sim-config", str(file), "--sim-output", "describe")

    assert (made.output, made.profile.decode_base, made.response_headers) == ("describe", 0.5, True)
    assert made.faults == ({"effect": {"kind": "stall"}},)


@pytest.mark.parametrize(("content", "words"), [("speed: 3", "'speed' is not known"), ("- 1", "not a mapping"), ("a: [", "cannot be read")])
def test_a_bad_settings_file_is_refused(tmp_path: Path, content: str, words: str) -> None:
    file = tmp_path / "sim.yaml"
    file.write_text(content)

    with pytest.raises(OptionsError, match=words):
        options("--sim-config", str(file))


def test_settings_change_one_after_another_and_others_stay() -> None:
    start = options("--block-size", "32", "--sim-output", "echo")
    made = changed(changed(start, {"decode_base": 0.25}), {"output": "fixed:hello there"})

    assert (made.output, made.profile.decode_base, made.block_size) == ("fixed:hello there", 0.25, 32)


@pytest.mark.parametrize(
    ("key", "words"), [("startup-delay", "at the start only"), ("max_body_mb", "at the start only"), ("x", "not known")]
)
def test_what_cannot_change_is_refused(key: str, words: str) -> None:
    with pytest.raises(OptionsError, match=words):
        changed(options(), {key: 1})
