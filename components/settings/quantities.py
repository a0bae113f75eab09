"""Kubernetes quantities: `16`, `500m`, `256Gi`."""

import re
from typing import Annotated

from pydantic import BeforeValidator, Field

PATTERN = r"^\d+(\.\d+)?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$"
_FACTORS = {"": 1.0, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_BINARY = {f"{letter}i": 2.0 ** (10 * power) for power, letter in enumerate("KMGTP", 1)}


def _as_text(value: object) -> object:
    """YAML reads `cpu: 8` as a number; Kubernetes takes both."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Quantity = Annotated[str, BeforeValidator(_as_text), Field(pattern=PATTERN)]


def amount(quantity: str) -> float:
    """The number a quantity stands for, in its base unit (cores, bytes). Raises ValueError for anything else."""
    found = re.match(PATTERN, quantity)
    if found is None:
        raise ValueError(f"{quantity!r} is no Kubernetes quantity")
    unit = found[2] or ""
    return float(quantity.removesuffix(unit) if unit else quantity) * {**_FACTORS, **_BINARY}[unit]
