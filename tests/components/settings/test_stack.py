"""The configuration of a stack as a whole."""

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from components.settings.combinations import Combination, impossible
from components.settings.complaints import SettingsError, section_of
from components.settings.stack import SECRET_KEYS, StackSettings, load

# Sections, whose keys are told one by one.
SECTIONS = {"tiers", "tiers.decode", "tiers.encode", "tiers.prefill", "router", "crds", "huggingFace"} | {
    f"router.{name}" for name in ("image", "service", "proxy", "pool")
}


def test_defaults_serve_qwen_on_an_existing_gpu_cluster() -> None:
    settings = load({})

    assert (settings.topology, settings.accelerator, settings.provider, settings.model_server) == ("aggregation", "gpu", "base", "vllm")
    assert settings.model.name == "Qwen/Qwen3-VL-32B-Instruct"
    assert settings.cluster.kind == "existing"
    assert (settings.namespace.name, settings.namespace.create) == ("llm-d-multimodal-serving", True)
    assert settings.release_name == "multimodal-serving"
    assert not settings.monitoring.enabled


def test_every_key_of_the_design_is_known() -> None:
    keys = {field.alias for field in StackSettings.model_fields.values()}

    assert keys == {
        "topology", "accelerator", "provider", "modelServer", "model", "cluster", "namespace", "releaseName", "tiers", "workload",
        "router", "monitoring", "tracing", "crds", "lws", "huggingFace",
    }  # fmt: skip


def test_values_may_be_json_text_as_the_engine_passes_them() -> None:
    value = {"decode": {"replicas": 3}}

    assert load({"tiers": json.dumps(value)}) == load({"tiers": value})


def test_secrets_never_enter_the_settings() -> None:
    settings = load({"huggingFaceToken": "hf_hidden", "kubeconfig": "hidden"})

    assert "hidden" not in repr(settings)
    assert SECRET_KEYS == ("huggingFaceToken", "kubeconfig")


@pytest.mark.parametrize("name", ["", "Upper", "a" * 41, "-a", "a_b"])
def test_a_release_name_fits_into_derived_names(name: str) -> None:
    with pytest.raises(SettingsError, match="releaseName"):
        load({"releaseName": name})


def test_a_model_of_the_other_engine_is_refused_with_those_that_fit() -> None:
    with pytest.raises(
        SettingsError, match=r"model: moonshotai/Kimi-VL-A3B-Instruct: vllm serves Qwen/Qwen3-VL-32B-Instruct or google/gemma"
    ):
        load({"model": "moonshotai/Kimi-VL-A3B-Instruct"})


def test_an_internal_load_balancer_needs_to_be_explained_on_base() -> None:
    service = {"type": "LoadBalancer", "internal": True}

    with pytest.raises(SettingsError, match=r"router\.service\.internal: true: how base makes a load balancer internal is not known"):
        load({"router": {"service": service}})
    assert load({"router": {"service": {**service, "annotations": {"a": "b"}}}}).router.service.internal
    assert load({"provider": "gke", "router": {"service": service}}).router.service.internal


combinations = st.fixed_dictionaries(
    {
        "topology": st.sampled_from(["aggregation", "e-pd", "e-p-d"]),
        "accelerator": st.sampled_from(["gpu", "xpu", "tpu/v7"]),
        "provider": st.sampled_from(["base", "gke", "coreweave"]),
        "modelServer": st.sampled_from(["vllm", "sglang"]),
    }
)


def combination(values: dict[str, Any]) -> Combination:
    return Combination(values["topology"], values["accelerator"], values["provider"], values["modelServer"])


@given(combinations)
def test_a_combination_is_served_or_refused_with_one_line_that_says_why(values: dict[str, Any]) -> None:
    served = values in (
        {**values, "topology": "aggregation", "accelerator": "gpu", "provider": p, "modelServer": "vllm"} for p in ("base", "gke")
    )
    impossible_one = impossible(combination(values)) is not None
    try:
        load(values)
    except SettingsError as error:
        assert not served
        (line,) = error.lines
        # The default model does not fit sglang, which is the first thing said about that combination.
        assert ("cannot work" in line) if impossible_one else ("not yet" in line or "sglang serves" in line)
    else:
        assert served


@given(
    st.dictionaries(st.text(min_size=1, max_size=12), st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8)), max_size=3)
)
def test_arbitrary_input_is_read_or_refused_but_never_crashes(values: dict[str, Any]) -> None:
    with contextlib.suppress(SettingsError):
        assert isinstance(load(values), StackSettings)


def dotted(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Every key, with its section before it."""
    for name, field in model.model_fields.items():
        key = f"{prefix}{field.alias or name}"
        inner = section_of(field.annotation)
        yield key
        if inner is not None:
            yield from dotted(inner, f"{key}.")


def test_every_key_is_documented() -> None:
    """By its whole name, or below the heading of its section by the rest of it."""
    text = (Path(__file__).resolve().parents[3] / "docs" / "settings.md").read_text(encoding="utf-8")
    said = {word.strip("`.,") for word in re.findall(r"`[^`]+`", re.sub(r"(?s)```.*?```", "", text))}
    sections = ("tiers.decode.", "router.", "crds.", "tiers.decode.volumes.")

    def is_said(key: str) -> bool:
        shorter = {key.removeprefix(section) for section in sections} | {key.rsplit(".", 1)[-1]}
        return key in said or bool(shorter & said)

    elsewhere = ("tiers.encode.", "tiers.prefill.", "router.tolerations.", "tiers.decode.tolerations.")  # as decode; as Kubernetes
    missing = {key for key in dotted(StackSettings) if not key.startswith(elsewhere) and not is_said(key)}

    assert missing <= SECTIONS, f"say in docs/settings.md what these do: {sorted(missing - SECTIONS)}"
