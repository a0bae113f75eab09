"""The catalogue and the forms of `model`."""

import pytest
from pydantic import TypeAdapter, ValidationError

from components.settings.models import CATALOGUE, LATER, QWEN3_VL_32B, Model, ModelSettings

ADAPTER: TypeAdapter[ModelSettings] = TypeAdapter(Model)


def test_a_name_is_short_for_an_object() -> None:
    assert ADAPTER.validate_python("a/b") == ADAPTER.validate_python({"name": "a/b"})


@pytest.mark.parametrize("value", ["", "a b", {}, {"name": "x", "factor": 0}, 7])
def test_what_is_no_model_is_refused(value: object) -> None:
    with pytest.raises(ValidationError):
        ADAPTER.validate_python(value)


def test_the_default_model_has_the_guide_s_calibration() -> None:
    entry = CATALOGUE[QWEN3_VL_32B]

    assert (entry.image_factor, entry.peak_prefill_throughput, entry.affinity_threshold, entry.max_ttft_penalty_ms) == (
        1024,
        15751,
        0.6,
        36000,
    )


def test_models_of_later_are_not_served_today() -> None:
    assert not set(LATER) & set(CATALOGUE)
