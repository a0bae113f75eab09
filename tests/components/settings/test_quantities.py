"""Kubernetes quantities."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from components.settings.quantities import Quantity, amount

ADAPTER: TypeAdapter[str] = TypeAdapter(Quantity)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("16", 16), ("500m", 0.5), ("1.5", 1.5), ("256Gi", 256 * 2**30), ("20G", 20e9), ("1Ki", 1024), ("2k", 2000), ("1Pi", 2**50)],
)
def test_amount(text: str, expected: float) -> None:
    assert amount(text) == expected


@pytest.mark.parametrize("text", ["", "Gi", "-1", "1gb", "1 Gi", "1e3"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no Kubernetes quantity"):
        amount(text)
    with pytest.raises(ValidationError):
        ADAPTER.validate_python(text)


@pytest.mark.parametrize(("value", "expected"), [(8, "8"), (0.5, "0.5"), ("8", "8")])
def test_numbers_of_yaml_are_taken_as_text(value: object, expected: str) -> None:
    assert ADAPTER.validate_python(value) == expected


def test_a_switch_is_no_quantity() -> None:
    with pytest.raises(ValidationError):
        ADAPTER.validate_python(True)


@given(st.integers(0, 10**6), st.sampled_from(["Ki", "Mi", "Gi", "Ti"]))
def test_binary_units_are_powers_of_1024(count: int, unit: str) -> None:
    assert amount(f"{count}{unit}") == count * 1024 ** (["Ki", "Mi", "Gi", "Ti"].index(unit) + 1)
